#include "oas/model/transition_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/model/detail/no_such_row.hpp"

namespace oas {

TransitionModel::TransitionModel(int num_states, int num_actions, std::vector<double> values,
                                 std::string_view what)
    : num_states_(num_states), num_actions_(num_actions), values_(std::move(values)) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1, "{}: {} states and {} actions", what, num_states,
              num_actions);
  const std::size_t block = table_size({num_states, num_states});
  OAS_REQUIRE(values_.size() == table_size({num_states, num_states, num_actions}),
              "{}: {} values for {} actions and {} states", what, values_.size(), num_actions,
              num_states);
  for (int a = 0; a < num_actions; ++a) {
    check_row_stochastic(std::span(values_).subspan(static_cast<std::size_t>(a) * block, block),
                         num_states, fmt::format("{}[{}]", what, a));
  }
}

TransitionModel TransitionModel::listed(int num_states, int num_actions,
                                        std::vector<ProbabilityEntry> entries,
                                        std::vector<std::size_t> row_starts,
                                        std::string_view what) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1, "{}: {} states and {} actions", what, num_states,
              num_actions);
  const auto n = static_cast<std::size_t>(num_states);
  const std::size_t rows = n * static_cast<std::size_t>(num_actions);
  OAS_REQUIRE(row_starts.size() == rows + 1 && row_starts.front() == 0 &&
                  row_starts.back() == entries.size() &&
                  std::is_sorted(row_starts.begin(), row_starts.end()),
              "{}: {} row starts do not divide {} entries into {} rows", what, row_starts.size(),
              entries.size(), rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto of_row =
        std::span(entries).subspan(row_starts[row], row_starts[row + 1] - row_starts[row]);
    double sum = 0.0;
    int last = -1;
    for (const ProbabilityEntry& entry : of_row) {
      OAS_REQUIRE(entry.outcome > last && entry.outcome < num_states,
                  "{}[{}][{}]: entry {} after entry {} of {} states", what, row / n, row % n,
                  entry.outcome, last, num_states);
      OAS_REQUIRE(entry.probability > 0.0, "{}[{}][{}][{}] is {}; listed entries are positive",
                  what, row / n, row % n, entry.outcome, entry.probability);
      last = entry.outcome;
      sum += entry.probability;
    }
    OAS_REQUIRE(std::abs(sum - 1.0) <= kStochasticTolerance, "{}[{}][{}] sums to {:.12g}, not to 1",
                what, row / n, row % n, sum);
  }
  TransitionModel model;
  model.num_states_ = num_states;
  model.num_actions_ = num_actions;
  model.entries_ = std::move(entries);
  model.row_starts_ = std::move(row_starts);
  return model;
}

Vector TransitionModel::mean_next(Action action, const Vector& v) const {
  require_row(action, State{0});
  OAS_REQUIRE(v.size() == num_states_, "{} numbers for {} states", v.size(), num_states_);
  if (!is_listed()) return matrix(action) * v;
  Vector mean = Vector::Zero(num_states_);
  for (State s{0}; s < num_states_; ++s) {
    for (const ProbabilityEntry& entry : entries(action, s)) {
      mean(s.value()) += entry.probability * v(entry.outcome);
    }
  }
  return mean;
}

Matrix TransitionModel::mean_next(Action action, const Matrix& columns) const {
  require_row(action, State{0});
  OAS_REQUIRE(columns.rows() == num_states_, "{} rows for {} states", columns.rows(), num_states_);
  if (!is_listed()) return matrix(action) * columns;
  Matrix means = Matrix::Zero(num_states_, columns.cols());
  for (State s{0}; s < num_states_; ++s) {
    for (const ProbabilityEntry& entry : entries(action, s)) {
      means.row(s) += entry.probability * columns.row(entry.outcome);
    }
  }
  return means;
}

std::size_t TransitionModel::num_entries() const {
  if (is_listed()) return entries_.size();
  return values_.size() - static_cast<std::size_t>(std::count(values_.begin(), values_.end(), 0.0));
}

void TransitionModel::refuse_table() const {
  throw InvalidArgument(
      fmt::format("a model of {} states and {} actions is held as a list of its transitions; this "
                  "needs a table of {} numbers, more than the limit of {}",
                  num_states_, num_actions_,
                  static_cast<std::size_t>(num_states_) * static_cast<std::size_t>(num_states_) *
                      static_cast<std::size_t>(num_actions_),
                  kMaxTable));
}

void TransitionModel::refuse_row(Action action, State state) const {
  detail::throw_no_such_row(action, num_actions_, state, num_states_);
}

double TransitionModel::at(Action action, State state, State next) const {
  require_row(action, state);
  check_state(next, num_states_);
  return (*this)(action, state, next);
}

std::span<const ProbabilityEntry> TransitionModel::entries(Action action, State state) const {
  const auto row = static_cast<std::size_t>(action) * static_cast<std::size_t>(num_states_) +
                   static_cast<std::size_t>(state);
  return std::span(entries_).subspan(row_starts_[row], row_starts_[row + 1] - row_starts_[row]);
}

double TransitionModel::find(Action action, State state, State next) const {
  const auto row = entries(action, state);
  const auto entry = std::lower_bound(
      row.begin(), row.end(), next,
      [](const ProbabilityEntry& a, State b) { return a.outcome < static_cast<int>(b); });
  return entry != row.end() && entry->outcome == static_cast<int>(next) ? entry->probability : 0.0;
}

TransitionModel TransitionModel::uniform(int num_states, int num_actions) {
  const std::size_t size = table_size({num_states, num_states, num_actions});
  OAS_REQUIRE(size > 0 && size <= std::vector<double>().max_size(),
              "transition: {} states and {} actions", num_states, num_actions);
  return {num_states, num_actions, std::vector<double>(size, 1.0 / num_states)};
}

}  // namespace oas
