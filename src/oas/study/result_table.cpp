#include "oas/study/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/logs/csv_cell.hpp"

namespace oas {

std::string to_text(const Cell& cell) {
  struct Visitor {
    std::string operator()(std::monostate /*nothing*/) const { return {}; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const {
      return std::isfinite(number) ? fmt::format("{}", number) : std::string();
    }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Visitor{}, cell);
}

std::string to_csv(const Cell& cell) { return csv_cell(to_text(cell)); }

std::string to_csv(const ResultRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += ',';
    text += to_csv(row[i]);
  }
  return text + '\n';
}

double to_number(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  return std::numeric_limits<double>::quiet_NaN();
}

std::size_t ResultTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  OAS_REQUIRE(found != columns.end(), "{}: no column '{}'; there are {}", kind, name,
              fmt::join(columns, ", "));
  return static_cast<std::size_t>(found - columns.begin());
}

std::string ResultTable::csv() const {
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const ResultRow& row : rows) text += to_csv(row);
  return text;
}

}  // namespace oas
