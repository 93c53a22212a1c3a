#include "oas/formats/detail/row_table.hpp"

#include <algorithm>
#include <array>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

// Four sums at once: one alone waits for each addition to finish.
double sum_of(const double* values, std::size_t size) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += values[i + k];
  }
  for (; i < size; ++i) sums[0] += values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

void WriteBudget::refuse() const {
  throw_invalid_argument(fmt::format("wildcards write more than the limit of {} entries", limit_));
}

RowTable::RowTable(std::size_t num_rows, std::size_t width, std::size_t max_table)
    : num_rows_(num_rows), width_(width) {
  if (num_rows * width <= max_table) {
    values_.resize(num_rows * width);
    return;
  }
  OAS_REQUIRE(num_rows <= kMaxListed, "{} rows are more than the limit of {}", num_rows,
              kMaxListed);
  rows_.resize(num_rows);
}

double RowTable::sum(std::size_t row) const {
  if (!is_listed()) return sum_of(values_.data() + row * width_, width_);
  const auto& [rest, others] = rows_[row];
  double sum = rest * static_cast<double>(width_ - others.size());
  for (const auto& [column, value] : others) sum += value;
  return sum;
}

void RowTable::count_listed(std::size_t before, std::size_t now) {
  num_listed_ = num_listed_ - before + now;
  OAS_REQUIRE(num_listed_ <= kMaxListed,
              "a table of {} rows of {} numbers has more than the limit of {} entries that are not "
              "0",
              num_rows_, width_, kMaxListed);
}

void RowTable::put_listed(std::size_t row, int column, double value, WriteBudget& budget) {
  auto& [rest, others] = rows_[row];
  const auto place = std::lower_bound(others.begin(), others.end(), column,
                                      [](const auto& a, int b) { return a.first < b; });
  if (place != others.end() && place->first == column) {
    place->second = value;
    return;
  }
  if (value == rest) return;
  budget.take(static_cast<std::size_t>(others.end() - place));
  others.emplace(place, column, value);
  if (rest == 0.0) count_listed(0, 1);
}

void RowTable::fill(std::size_t row, double value, WriteBudget& budget) {
  if (!is_listed()) {
    std::fill_n(values_.data() + row * width_, width_, value);
    budget.take(width_);
    return;
  }
  auto& [rest, others] = rows_[row];
  const std::size_t before = rest == 0.0 ? others.size() : width_;
  rest = value;
  others.clear();
  count_listed(before, value == 0.0 ? 0 : width_);
}

void RowTable::copy(std::size_t row, std::span<const double> values, WriteBudget& budget) {
  budget.take(width_);
  if (!is_listed()) {
    std::copy(values.begin(), values.end(), values_.data() + row * width_);
    return;
  }
  fill(row, 0.0, budget);
  for (std::size_t i = 0; i < values.size(); ++i) {
    put_listed(row, static_cast<int>(i), values[i], budget);
  }
}

void RowTable::divide(std::size_t row, double by) {
  if (!is_listed()) {
    double* values = values_.data() + row * width_;
    for (std::size_t i = 0; i < width_; ++i) values[i] /= by;
    return;
  }
  rows_[row].rest /= by;
  for (auto& [column, value] : rows_[row].others) value /= by;
}

}  // namespace oas::detail
