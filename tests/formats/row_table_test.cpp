#include "oas/formats/detail/row_table.hpp"

#include "oas/core/contracts.hpp"
#include "support/property.hpp"

/// A table and a list of exceptions hold the same numbers whatever is written.
namespace oas::detail {
namespace {

RC_GTEST_PROP(RowTable, ListedAndTableAgree, ()) {
  const auto num_rows = *rc::gen::inRange<std::size_t>(1, 5);
  const auto width = *rc::gen::inRange<std::size_t>(1, 7);
  RowTable table(num_rows, width, 1000);
  RowTable list(num_rows, width, 0);
  RC_ASSERT(!table.is_listed() && list.is_listed());
  WriteBudget budget(1'000'000);
  const auto some_value = rc::gen::element(0.0, 0.25, 0.5, 1.0);
  for (int i = *rc::gen::inRange(0, 30); i > 0; --i) {
    const auto row = *rc::gen::inRange<std::size_t>(0, num_rows);
    const double value = *some_value;
    const int kind = *rc::gen::inRange(0, 6);
    const auto values = *rc::gen::container<std::vector<double>>(width, some_value);
    for (RowTable* rows : {&table, &list}) {
      if (kind == 0) {
        rows->fill(row, value, budget);
      } else if (kind == 1) {
        rows->copy(row, values, budget);
      } else if (kind == 2) {
        rows->divide(row, 2.0);
      } else {
        rows->put(row, static_cast<std::size_t>(i) % width, value, budget);
      }
    }
  }
  using Entries = std::vector<std::pair<int, double>>;
  for (std::size_t row = 0; row < num_rows; ++row) {
    Entries visited[2];
    table.for_each(row, [&](int column, double value) { visited[0].emplace_back(column, value); });
    list.for_each(row, [&](int column, double value) { visited[1].emplace_back(column, value); });
    RC_ASSERT(visited[0] == visited[1]);
    RC_ASSERT(table.sum(row) == list.sum(row));  // all values are small multiples of a power of 2
    for (std::size_t column = 0; column < width; ++column) {
      RC_ASSERT(table(row, column) == list(row, column));
    }
  }
}

TEST(RowTable, LimitsAreNamed) {
  EXPECT_THROW(RowTable(RowTable::kMaxListed + 1, 1, 10), InvalidArgument);
  RowTable wide(3, RowTable::kMaxListed / 2, 0);
  WriteBudget budget(10);
  wide.fill(0, 0.5, budget);
  wide.fill(1, 0.5, budget);
  EXPECT_THROW(wide.fill(2, 0.5, budget), InvalidArgument);
}

TEST(RowTable, MovingEntriesIsPaidFor) {
  RowTable list(1, 1000, 0);
  WriteBudget budget(10);  // 50 moves
  EXPECT_THROW(
      {
        for (std::size_t i = 100; i-- > 0;) list.put(0, i, 1.0, budget);
      },
      InvalidArgument);
}

}  // namespace
}  // namespace oas::detail
