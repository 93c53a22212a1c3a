#include "oas/io/detail/probability_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

void WriteBudget::take(std::size_t writes) {
  used += writes;
  OAS_REQUIRE(used <= limit, "wildcards write more than the limit of {} entries", limit);
}

ProbabilityTable::ProbabilityTable(int num_actions, int num_states, int width,
                                   std::size_t max_table, WriteBudget& budget)
    : num_actions_(num_actions),
      num_states_(num_states),
      width_(static_cast<std::size_t>(width)),
      lines_(static_cast<std::size_t>(num_actions) * static_cast<std::size_t>(num_states)),
      budget_(&budget) {
  if (lines_.size() * width_ <= max_table) {
    values_.resize(lines_.size() * width_);
    return;
  }
  OAS_REQUIRE(lines_.size() <= kMaxListed,
              "{} actions and {} states have more than the limit of {} rows", num_actions,
              num_states, kMaxListed);
  rows_.resize(lines_.size());
}

ProbabilityTable ProbabilityTable::for_transition(int num_actions, int num_states,
                                                  std::size_t max_numbers, WriteBudget& budget) {
  return {num_actions, num_states, num_states, std::min(max_numbers, TransitionModel::kMaxTable),
          budget};
}

void ProbabilityTable::count_listed(std::size_t before, std::size_t now) {
  num_listed_ = num_listed_ - before + now;
  OAS_REQUIRE(num_listed_ <= kMaxListed,
              "{} actions and {} states have more than the limit of {} entries that are not 0",
              num_actions_, num_states_, kMaxListed);
}

void ProbabilityTable::fill(std::size_t row, double value) {
  if (!is_listed()) {
    std::fill_n(values_.data() + row * width_, width_, value);
    budget_->take(width_);
    return;
  }
  const auto size_of = [&] { return rows_[row].rest == 0.0 ? rows_[row].others.size() : width_; };
  const std::size_t before = size_of();
  rows_[row].rest = value;
  rows_[row].others.clear();
  count_listed(before, size_of());
}

void ProbabilityTable::put(std::size_t row, int column, double value) {
  if (!is_listed()) {
    values_[row * width_ + static_cast<std::size_t>(column)] = value;
    return;
  }
  auto& others = rows_[row].others;
  const auto place = std::lower_bound(others.begin(), others.end(), column,
                                      [](const auto& a, int b) { return a.first < b; });
  if (place != others.end() && place->first == column) {
    place->second = value;
    return;
  }
  budget_->take(static_cast<std::size_t>(others.end() - place));
  others.emplace(place, column, value);
  if (rows_[row].rest == 0.0) count_listed(0, 1);
}

void ProbabilityTable::copy(std::size_t row, std::span<const double> values) {
  if (!is_listed()) {
    std::copy(values.begin(), values.end(), values_.data() + row * width_);
    budget_->take(width_);
    return;
  }
  fill(row, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0.0) put(row, static_cast<int>(i), values[i]);
  }
  budget_->take(width_);
}

template <class Visit>
void ProbabilityTable::for_rows(int action, int state, long line, Visit visit) {
  const int first_action = action == kAll ? 0 : action;
  const int last_action = action == kAll ? num_actions_ - 1 : action;
  const int first_state = state == kAll ? 0 : state;
  const int last_state = state == kAll ? num_states_ - 1 : state;
  for (int a = first_action; a <= last_action; ++a) {
    for (int s = first_state; s <= last_state; ++s) {
      const std::size_t row = static_cast<std::size_t>(a) * num_states_ + s;
      lines_[row] = line;
      visit(s, row);
    }
  }
  budget_->take(static_cast<std::size_t>(last_action - first_action + 1) *
                static_cast<std::size_t>(last_state - first_state + 1));
}

void ProbabilityTable::set(int action, int state, int column, double value, long line) {
  for_rows(action, state, line, [&](int, std::size_t row) {
    if (column == kAll) {
      fill(row, value);
    } else {
      put(row, column, value);
    }
  });
}

void ProbabilityTable::set_row(int action, int state, std::span<const double> row, long line) {
  for_rows(action, state, line, [&](int, std::size_t to) { copy(to, row); });
}

void ProbabilityTable::set_matrix(int action, std::span<const double> rows, long line) {
  for_rows(action, kAll, line, [&](int s, std::size_t to) {
    copy(to, rows.subspan(static_cast<std::size_t>(s) * width_, width_));
  });
}

void ProbabilityTable::set_identity_row(int action, int state, long line) {
  for_rows(action, state, line, [&](int s, std::size_t to) {
    fill(to, 0.0);
    put(to, s, 1.0);
  });
}

double ProbabilityTable::sum_of(std::size_t row) const {
  if (!is_listed()) return detail::sum_of(values_.data() + row * width_, width_);
  const Row& entries = rows_[row];
  double sum = entries.rest * static_cast<double>(width_ - entries.others.size());
  for (const auto& [column, value] : entries.others) sum += value;
  return sum;
}

void ProbabilityTable::divide(std::size_t row, double by) {
  if (!is_listed()) {
    double* values = values_.data() + row * width_;
    for (std::size_t i = 0; i < width_; ++i) values[i] /= by;
    return;
  }
  rows_[row].rest /= by;
  for (auto& [column, value] : rows_[row].others) value /= by;
}

TransitionModel ProbabilityTable::take_transition() {
  if (!is_listed()) return {num_states_, num_actions_, std::move(values_)};
  std::vector<ProbabilityEntry> entries;
  std::vector<std::size_t> row_starts{0};
  entries.reserve(num_listed_);
  for (Row& row : rows_) {
    if (row.rest != 0.0) {
      for (int next = 0; next < num_states_; ++next) {
        if (row(next) != 0.0) entries.push_back({next, row(next)});
      }
    } else {
      for (const auto& [next, value] : row.others) {
        if (value != 0.0) entries.push_back({next, value});
      }
    }
    row_starts.push_back(entries.size());
    row = {};
  }
  return TransitionModel::listed(num_states_, num_actions_, std::move(entries),
                                 std::move(row_starts));
}

void ProbabilityTable::finish(const char* what, const Labels& actions, const Labels& states,
                              Faults& faults, Warnings& warnings) {
  double largest = 0.0;
  long first_line = 0;
  std::size_t count = 0;
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    const double sum = sum_of(row);
    const double off = std::abs(sum - 1.0);
    if (off <= kRoundingTolerance) continue;
    const auto n = static_cast<std::size_t>(num_states_);
    const auto name = [&] {
      return fmt::format("{} of action {}, state {}", what, actions[static_cast<int>(row / n)],
                         states[static_cast<int>(row % n)]);
    };
    if (off > kTextTolerance) {
      faults.add({lines_[row], 0}, lines_[row] == 0
                                       ? fmt::format("{} is not given", name())
                                       : fmt::format("{} sums to {:.8g}, not to 1", name(), sum));
      continue;
    }
    divide(row, sum);
    if (count++ == 0) first_line = lines_[row];
    largest = std::max(largest, off);
  }
  if (count > 0) {
    warnings.add(what, first_line,
                 fmt::format("{} row{} of {} {} off 1 by up to {:.2g}; renormalised", count,
                             count == 1 ? "" : "s", what, count == 1 ? "is" : "are", largest));
  }
}

}  // namespace oas::detail
