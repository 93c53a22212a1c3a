#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace oas {

/// One cell of a result: nothing, a whole number, a number, a text.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
using ResultRow = std::vector<Cell>;
using ResultRows = std::vector<ResultRow>;

/// Shortest digits that read back, empty for nothing and for what is not finite.
[[nodiscard]] std::string to_text(const Cell& cell);
/// The same, quoted where RFC 4180 wants it.
[[nodiscard]] std::string to_csv(const Cell& cell);
/// Cells joined by commas, with a newline.
[[nodiscard]] std::string to_csv(const ResultRow& row);
/// The number in the cell, NaN where there is none.
[[nodiscard]] double to_number(const Cell& cell);

/// All rows of one kind of task in the order of the units: the tidy table that figures are made of
/// and that CSV files hold. The first columns are task, sweep, replication and seed.
struct ResultTable {
  std::string kind;
  std::vector<std::string> columns;
  ResultRows rows;

  /// Throws InvalidArgument listing the columns when there is none of that name.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  [[nodiscard]] std::string csv() const;
};

/// The columns that come before those of the kind.
inline constexpr std::string_view kKeyColumns[] = {"task", "sweep", "replication", "seed"};

}  // namespace oas
