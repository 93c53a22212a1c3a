#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas::python {

std::int32_t WordList::code(std::string_view word) {
  const auto found = codes_.find(word);
  if (found != codes_.end()) return found->second;
  const auto code = static_cast<std::int32_t>(words_.size());
  words_.emplace_back(word);
  codes_.emplace(words_.back(), code);
  return code;
}

std::int64_t WholeCells::operator[](std::size_t row) const {
  return std::visit([&](const auto& of) { return static_cast<std::int64_t>(of[row]); }, values);
}

double RealCells::operator[](std::size_t row) const {
  return std::visit([&](const auto& of) { return static_cast<double>(of[row]); }, values);
}

namespace {

template <class... Numbers>
std::size_t count_of(const SeriesOf<Numbers...>& values) {
  return std::visit([](const auto& series) { return series.size(); }, values);
}

}  // namespace

std::size_t Column::size() const {
  struct {
    std::size_t operator()(const WholeCells& cells) const { return count_of(cells.values); }
    std::size_t operator()(const RealCells& cells) const { return count_of(cells.values); }
    std::size_t operator()(const TextCells& cells) const { return cells.codes.size(); }
    std::size_t operator()(const DateCells& cells) const { return cells.nanoseconds.size(); }
  } counted;
  return std::visit(counted, cells);
}

bool Column::has_fractions() const {
  const auto* const real = std::get_if<RealCells>(&cells);
  for (std::size_t row = 0; real != nullptr && row < size(); ++row) {
    const double value = (*real)[row];
    if (std::isfinite(value) && value != std::floor(value)) return true;
  }
  return false;
}

void Columns::add(Column column) {
  OAS_REQUIRE(columns_.empty() || column.size() == size(),
              "column '{}' has {} rows, but column '{}' has {}", column.name, column.size(),
              columns_.front().name, size());
  const Column* const other = find(column.part);
  OAS_REQUIRE(other == nullptr, "columns '{}' and '{}' are both the {} of a row",
              other == nullptr ? "" : other->name, column.name, column.part);
  columns_.push_back(std::move(column));
}

const Column* Columns::find(std::string_view part) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(),
                                  [&](const Column& column) { return column.part == part; });
  return found == columns_.end() ? nullptr : &*found;
}

namespace {

// Days since 1970 to a date (proleptic Gregorian), after Hinnant.
std::string date_text(std::int64_t nanoseconds, bool zoned) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kDay = 86'400 * kSecond;
  const std::int64_t days = nanoseconds / kDay - (nanoseconds % kDay < 0 ? 1 : 0);
  const std::int64_t rest = nanoseconds - days * kDay;
  const std::int64_t z = days + 719'468;
  const std::int64_t era = (z >= 0 ? z : z - 146'096) / 146'097;
  const std::int64_t doe = z - era * 146'097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const std::int64_t month = mp < 10 ? mp + 3 : mp - 9;
  const std::int64_t year = yoe + era * 400 + (month <= 2 ? 1 : 0);
  const std::int64_t second = rest / kSecond;
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year, month, doy - (153 * mp + 2) / 5 + 1,
                  second / 3600, second / 60 % 60, second % 60);
  if (rest % kSecond != 0) text += fmt::format(".{:09}", rest % kSecond);
  return zoned ? text + "Z" : text;
}

std::string number_text(double value) {
  if (std::isnan(value)) return {};
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace

std::string cell_text(const Column& column, std::size_t row) {
  if (const auto* const whole = std::get_if<WholeCells>(&column.cells)) {
    if (whole->is_missing(row)) return {};
    return fmt::format("{}", (*whole)[row]);
  }
  if (const auto* const real = std::get_if<RealCells>(&column.cells)) {
    return number_text((*real)[row]);
  }
  if (const auto* const text = std::get_if<TextCells>(&column.cells)) {
    const std::int32_t code = text->codes[row];
    return code < 0 ? std::string() : text->words[static_cast<std::size_t>(code)];
  }
  const auto& dates = std::get<DateCells>(column.cells);
  const std::int64_t time = dates.nanoseconds[row];
  return time == DateCells::kMissing ? std::string() : date_text(time, dates.zoned);
}

void fail_cell(const Column& column, std::size_t row, const char* why) {
  std::string cell = cell_text(column, row);
  if (cell.empty()) {
    cell = "a missing value";
  } else if (std::holds_alternative<TextCells>(column.cells)) {
    cell = fmt::format("'{}'", cell);
  }
  throw InvalidArgument(fmt::format("column '{}', row {}: {} {}", column.name, row, cell, why));
}

namespace {

// Numbers among texts, as "0.5" in a list with "half".
double number_in(const TextCells& cells, const Column& column, std::size_t row) {
  if (cells.codes[row] < 0) return std::nan("");
  const std::string& word = cells.words[static_cast<std::size_t>(cells.codes[row])];
  double value = 0.0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
    fail_cell(column, row, "is not a number");
  }
  return value;
}

}  // namespace

double real_cell(const Column& column, std::size_t row) {
  if (const auto* const real = std::get_if<RealCells>(&column.cells)) return (*real)[row];
  if (const auto* const text = std::get_if<TextCells>(&column.cells)) {
    return number_in(*text, column, row);
  }
  const auto* const whole = std::get_if<WholeCells>(&column.cells);
  if (whole == nullptr) fail_cell(column, row, "is not a number");
  if (whole->is_missing(row)) return std::nan("");
  return static_cast<double>((*whole)[row]);
}

}  // namespace oas::python
