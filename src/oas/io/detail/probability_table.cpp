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

ProbabilityTable::ProbabilityTable(int num_actions, int num_states, int width, WriteBudget& budget)
    : num_actions_(num_actions),
      num_states_(num_states),
      width_(static_cast<std::size_t>(width)),
      values_(static_cast<std::size_t>(num_actions) * static_cast<std::size_t>(num_states) *
              width_),
      lines_(static_cast<std::size_t>(num_actions) * static_cast<std::size_t>(num_states)),
      budget_(&budget) {}

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
      visit(s, values_.data() + row * width_);
    }
  }
  budget_->take(static_cast<std::size_t>(last_action - first_action + 1) *
                static_cast<std::size_t>(last_state - first_state + 1));
}

void ProbabilityTable::set(int action, int state, int column, double value, long line) {
  if (column != kAll) {
    for_rows(action, state, line, [&](int, double* row) { row[column] = value; });
    return;
  }
  for_rows(action, state, line, [&](int, double* row) {
    std::fill_n(row, width_, value);
    budget_->take(width_);
  });
}

void ProbabilityTable::set_row(int action, int state, std::span<const double> row, long line) {
  for_rows(action, state, line, [&](int, double* to) {
    std::copy(row.begin(), row.end(), to);
    budget_->take(width_);
  });
}

void ProbabilityTable::set_matrix(int action, std::span<const double> rows, long line) {
  for_rows(action, kAll, line, [&](int s, double* to) {
    const auto row = rows.subspan(static_cast<std::size_t>(s) * width_, width_);
    std::copy(row.begin(), row.end(), to);
    budget_->take(width_);
  });
}

void ProbabilityTable::set_identity_row(int action, int state, long line) {
  for_rows(action, state, line, [&](int s, double* to) {
    std::fill_n(to, width_, 0.0);
    to[s] = 1.0;
    budget_->take(width_);
  });
}

void ProbabilityTable::finish(const char* what, const Labels& actions, const Labels& states,
                              Faults& faults, Warnings& warnings) {
  double largest = 0.0;
  long first_line = 0;
  std::size_t count = 0;
  for (std::size_t row = 0; row < lines_.size(); ++row) {
    double* values = values_.data() + row * width_;
    const double sum = sum_of(values, width_);
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
    for (std::size_t i = 0; i < width_; ++i) values[i] /= sum;
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
