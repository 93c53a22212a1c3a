#include "oas/formats/detail/probability_table.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas::detail {

ProbabilityTable::ProbabilityTable(int num_actions, int num_states, int width,
                                   std::size_t max_table, WriteBudget& budget)
    : num_actions_(num_actions),
      num_states_(num_states),
      rows_(static_cast<std::size_t>(num_actions) * static_cast<std::size_t>(num_states),
            static_cast<std::size_t>(width), max_table),
      lines_(rows_.num_rows()),
      budget_(&budget) {}

ProbabilityTable ProbabilityTable::for_transition(int num_actions, int num_states,
                                                  std::size_t max_numbers, WriteBudget& budget) {
  return {num_actions, num_states, num_states, std::min(max_numbers, TransitionModel::kMaxTable),
          budget};
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
      rows_.fill(row, value, *budget_);
    } else {
      rows_.put(row, static_cast<std::size_t>(column), value, *budget_);
    }
  });
}

void ProbabilityTable::set_row(int action, int state, std::span<const double> row, long line) {
  for_rows(action, state, line, [&](int, std::size_t to) { rows_.copy(to, row, *budget_); });
}

void ProbabilityTable::set_matrix(int action, std::span<const double> rows, long line) {
  for_rows(action, kAll, line, [&](int s, std::size_t to) {
    rows_.copy(to, rows.subspan(static_cast<std::size_t>(s) * rows_.width(), rows_.width()),
               *budget_);
  });
}

void ProbabilityTable::set_identity_row(int action, int state, long line) {
  for_rows(action, state, line, [&](int s, std::size_t to) {
    rows_.fill(to, 0.0, *budget_);
    rows_.put(to, static_cast<std::size_t>(s), 1.0, *budget_);
  });
}

TransitionModel ProbabilityTable::take_transition() {
  if (!rows_.is_listed()) return {num_states_, num_actions_, rows_.take()};
  std::vector<ProbabilityEntry> entries;
  std::vector<std::size_t> row_starts{0};
  row_starts.reserve(rows_.num_rows() + 1);
  for (std::size_t row = 0; row < rows_.num_rows(); ++row) {
    rows_.for_each(row, [&](int next, double p) { entries.push_back({next, p}); });
    row_starts.push_back(entries.size());
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
    const double sum = rows_.sum(row);
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
    rows_.divide(row, sum);
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
