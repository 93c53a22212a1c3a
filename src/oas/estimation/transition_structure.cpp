#include "oas/estimation/transition_structure.hpp"

#include <algorithm>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/words.hpp"

namespace oas {

namespace {

constexpr double kRowRounding = 1e-8;  // of sums of fixed entries, as for rows in model files

std::string row_name(const Pomdp& model, std::size_t row) {
  const auto index = static_cast<int>(row);
  return fmt::format("({}, {})", model.actions()[index / model.num_states()],
                     model.states()[index % model.num_states()]);
}

std::string entry_name(const Pomdp& model, std::size_t entry) {
  const auto n = static_cast<std::size_t>(model.num_states());
  return fmt::format("{} to {}", row_name(model, entry / n),
                     model.states()[static_cast<int>(entry % n)]);
}

std::size_t row_of(int num_states, Action action, State state) {
  return static_cast<std::size_t>(action) * static_cast<std::size_t>(num_states) +
         static_cast<std::size_t>(state);
}

void fix_entry(const Pomdp& model, std::optional<double>& known, std::size_t entry, double value) {
  OAS_REQUIRE(!known || *known == value, "entry {} is fixed twice, to {} and to {}",
              entry_name(model, entry), known.value_or(0.0), value);
  known = value;
}

}  // namespace

TransitionKnowledge::TransitionKnowledge(int states, int actions)
    : num_states(states),
      num_actions(actions),
      fixed(static_cast<std::size_t>(states) * static_cast<std::size_t>(states) *
            static_cast<std::size_t>(actions)) {}

void TransitionKnowledge::fix(const Pomdp& model, Action action, State state, State next,
                              double value) {
  const std::size_t entry =
      row_of(num_states, action, state) * static_cast<std::size_t>(num_states) +
      static_cast<std::size_t>(next);
  fix_entry(model, fixed[entry], entry, value);
}

void TransitionKnowledge::tie(Action a, State s, Action b, State u) {
  tied.emplace_back(row_of(num_states, a, s), row_of(num_states, b, u));
}

void TransitionKnowledge::add(const Pomdp& model, const TransitionKnowledge& other) {
  if (other.fixed.empty()) return;
  if (fixed.empty()) *this = TransitionKnowledge(other.num_states, other.num_actions);
  OAS_REQUIRE(num_states == other.num_states && num_actions == other.num_actions,
              "facts on {} states and {} actions for {} and {}", other.num_states,
              other.num_actions, num_states, num_actions);
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (other.fixed[i]) fix_entry(model, fixed[i], i, *other.fixed[i]);
  }
  tied.insert(tied.end(), other.tied.begin(), other.tied.end());
}

TransitionKnowledge zeros_of(const TransitionModel& transition) {
  TransitionKnowledge knowledge(transition.num_states(), transition.num_actions());
  for (std::size_t i = 0; i < knowledge.fixed.size(); ++i) {
    if (transition.values()[i] == 0.0) knowledge.fixed[i] = 0.0;
  }
  return knowledge;
}

TransitionKnowledge same_for_all_actions(int num_states, int num_actions) {
  TransitionKnowledge knowledge(num_states, num_actions);
  for (Action a{1}; a < num_actions; ++a) {
    for (State s{0}; s < num_states; ++s) knowledge.tie(Action{0}, s, a, s);
  }
  return knowledge;
}

TransitionStructure::TransitionStructure(const Pomdp& model, const TransitionKnowledge& knowledge)
    : num_states_(model.num_states()), num_actions_(model.num_actions()) {
  OAS_REQUIRE(knowledge.num_states == num_states_ && knowledge.num_actions == num_actions_,
              "a structure of {} states and {} actions for {} and {}", knowledge.num_states,
              knowledge.num_actions, num_states_, num_actions_);
  const auto n = static_cast<std::size_t>(num_states_);
  const std::size_t rows = knowledge.fixed.size() / n;
  leader_.resize(rows);
  std::iota(leader_.begin(), leader_.end(), std::size_t{0});
  const auto find = [&](std::size_t row) {
    while (leader_[row] != row) row = leader_[row];
    return row;
  };
  for (const auto& [a, b] : knowledge.tied) {
    const std::size_t first = std::min(find(a), find(b));
    const std::size_t second = std::max(find(a), find(b));
    leader_[second] = first;
  }
  for (std::size_t row = 0; row < rows; ++row) leader_[row] = find(row);

  std::vector<std::optional<double>> fixed(knowledge.fixed.size());  // of first rows
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const std::optional<double>& value = knowledge.fixed[i];
    if (!value) continue;
    OAS_REQUIRE(*value >= 0.0 && *value <= 1.0, "entry {} is fixed to {}; it must lie in [0, 1]",
                entry_name(model, i), *value);
    std::optional<double>& known = fixed[leader_[i / n] * n + i % n];
    OAS_REQUIRE(!known || *known == *value,
                "rows {} and {} are said to be equal, but their entries to {} are fixed to {} and "
                "{}",
                row_name(model, leader_[i / n]), row_name(model, i / n),
                model.states()[static_cast<int>(i % n)], known.value_or(0.0), *value);
    known = *value;
  }
  free_.assign(fixed.size(), 0);
  fixed_.assign(fixed.size(), 0.0);
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const std::optional<double>& known = fixed[leader_[i / n] * n + i % n];
    free_[i] = !known;
    fixed_[i] = known.value_or(0.0);
  }
  for (std::size_t row = 0; row < rows; ++row) check_row(model, row);
  OAS_REQUIRE(num_free() > 0, "the structure leaves nothing to estimate");
}

void TransitionStructure::check_row(const Pomdp& model, std::size_t row) {
  const auto n = static_cast<std::size_t>(num_states_);
  double sum = 0.0;
  std::size_t left = 0;
  for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
    sum += fixed_[i];
    left += free_[i] != 0;
  }
  OAS_REQUIRE(sum <= 1.0 + kRowRounding,
              "fixed entries of row {} sum to {:.6g}, which is more than 1", row_name(model, row),
              sum);
  OAS_REQUIRE(left > 0 || sum >= 1.0 - kRowRounding,
              "all entries of row {} are fixed, and sum to {:.6g} instead of 1",
              row_name(model, row), sum);
  mass_left_.push_back(left > 1 && sum < 1.0 - kRowRounding ? 1.0 - sum : 0.0);
  if (mass_left_.back() > 0.0) return;
  // What is left can only be 0; a single entry takes all of it.
  for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
    if (free_[i] != 0 && left == 1) fixed_[i] = std::max(0.0, 1.0 - sum);
    free_[i] = 0;
  }
  const auto first = fixed_.begin() + static_cast<std::ptrdiff_t>(row * n);
  sum = std::accumulate(first, first + num_states_, 0.0);
  std::for_each(first, first + num_states_, [&](double& value) { value /= sum; });
}

int TransitionStructure::num_free() const {
  const auto n = static_cast<std::size_t>(num_states_);
  std::ptrdiff_t count = 0;
  for (std::size_t row = 0; row < leader_.size(); ++row) {
    if (leader_[row] != row || mass_left_[row] == 0.0) continue;
    const auto first = free_.begin() + static_cast<std::ptrdiff_t>(row * n);
    count += std::count(first, first + num_states_, 1) - 1;
  }
  return static_cast<int>(count);
}

TransitionModel TransitionStructure::reduce(const TransitionModel& transition) const {
  OAS_REQUIRE(transition.num_states() == num_states_ && transition.num_actions() == num_actions_,
              "a transition model of {} states and {} actions for a structure of {} and {}",
              transition.num_states(), transition.num_actions(), num_states_, num_actions_);
  const auto n = static_cast<std::size_t>(num_states_);
  std::vector<double> values(free_.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (free_[i] != 0) values[leader_[i / n] * n + i % n] += transition.values()[i];
  }
  for (std::size_t row = 0; row < leader_.size(); ++row) {
    double* const first = values.data() + row * n;
    if (leader_[row] != row || mass_left_[row] == 0.0) {
      std::fill_n(first, n, 0.0);
      first[0] = 1.0;
      continue;
    }
    if (std::accumulate(first, first + n, 0.0) <= 0.0) {
      std::copy_n(free_.begin() + static_cast<std::ptrdiff_t>(row * n), n, first);
    }
    const double sum = std::accumulate(first, first + n, 0.0);
    std::for_each(first, first + n, [&](double& value) { value /= sum; });
  }
  return {num_states_, num_actions_, std::move(values)};
}

TransitionModel TransitionStructure::expand(const TransitionModel& reduced) const {
  const auto n = static_cast<std::size_t>(num_states_);
  std::vector<double> values = fixed_;
  for (std::size_t row = 0; row < leader_.size(); ++row) {
    if (mass_left_[row] == 0.0) continue;
    const double* const from = reduced.values().data() + leader_[row] * n;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += free_[row * n + i] != 0 ? from[i] : 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      if (free_[row * n + i] != 0) values[row * n + i] = mass_left_[row] * from[i] / sum;
    }
  }
  return {num_states_, num_actions_, std::move(values)};
}

std::string TransitionStructure::brief() const {
  const auto n = static_cast<std::size_t>(num_states_);
  std::size_t zeros = 0;
  std::size_t others = 0;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (free_[i] == 0) ++(fixed_[i] == 0.0 ? zeros : others);
  }
  for (std::size_t row = 0; row < leader_.size(); ++row) equal += leader_[row] != row;
  return fmt::format(
      "{} known {}, {} other fixed {}, {} {} equal to others; {} of {} numbers are free", zeros,
      plural(zeros, "zero"), others, plural(others, "entry"), equal, plural(equal, "row"),
      num_free(), leader_.size() * (n - 1));
}

}  // namespace oas
