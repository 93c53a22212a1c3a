#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/model/reward_table.hpp"

namespace oas::detail {

/// How many entries may still be written: wildcards must not keep a reader busy for ever.
class WriteBudget {
 public:
  /// For a reader that may hold `max_numbers`: five times as many.
  explicit WriteBudget(std::size_t max_numbers) : limit_(5 * max_numbers) {}

  [[nodiscard]] std::size_t limit() const { return limit_; }

  /// Throws InvalidArgument that names the limit when `writes` more are too many.
  void take(std::size_t writes) {
    used_ += writes;
    if (used_ > limit_) [[unlikely]]
      refuse();
  }

 private:
  [[noreturn]] void refuse() const;

  std::size_t limit_;
  std::size_t used_ = 0;
};

/// Rows of numbers that are filled in any order, all 0 at first. Held as one table, or, where that
/// would be too large, each row as one number and the list of exceptions from it.
class RowTable {
 public:
  /// Rows, and entries that are not 0, that may be listed.
  static constexpr std::size_t kMaxListed = 20'000'000;

  RowTable() = default;
  /// Listed when there are more than `max_table` numbers. Throws InvalidArgument beyond kMaxListed
  /// rows.
  RowTable(std::size_t num_rows, std::size_t width, std::size_t max_table);

  [[nodiscard]] std::size_t num_rows() const { return num_rows_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool is_listed() const { return !rows_.empty(); }

  /// O(1); O(log) of the row's exceptions when listed.
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
    return is_listed() ? rows_[row](static_cast<int>(column)) : values_[row * width_ + column];
  }
  /// Calls visit(int column, double value) for what is not 0, by rising column.
  template <class Visit>
  void for_each(std::size_t row, Visit&& visit) const;
  [[nodiscard]] double sum(std::size_t row) const;

  /// The budget pays for what has to be moved or filled; one entry of a table is free. Throw
  /// InvalidArgument when it is spent, and beyond kMaxListed entries.
  void put(std::size_t row, std::size_t column, double value, WriteBudget& budget) {
    if (is_listed()) {
      put_listed(row, static_cast<int>(column), value, budget);
    } else {
      values_[row * width_ + column] = value;
    }
  }
  void fill(std::size_t row, double value, WriteBudget& budget);
  void copy(std::size_t row, std::span<const double> values, WriteBudget& budget);
  void divide(std::size_t row, double by);

  /// The numbers, [row][column]; not when listed.
  [[nodiscard]] std::vector<double> take() { return std::move(values_); }

 private:
  void put_listed(std::size_t row, int column, double value, WriteBudget& budget);
  void count_listed(std::size_t before, std::size_t now);

  std::size_t num_rows_ = 0;
  std::size_t width_ = 0;
  std::vector<double> values_;            // empty when listed
  std::vector<Exceptions<double>> rows_;  // empty when not
  std::size_t num_listed_ = 0;
};

template <class Visit>
void RowTable::for_each(std::size_t row, Visit&& visit) const {
  if (is_listed() && rows_[row].rest == 0.0) {
    for (const auto& [column, value] : rows_[row].others) {
      if (value != 0.0) visit(column, value);
    }
    return;
  }
  for (std::size_t column = 0; column < width_; ++column) {
    const double value = (*this)(row, column);
    if (value != 0.0) visit(static_cast<int>(column), value);
  }
}

}  // namespace oas::detail
