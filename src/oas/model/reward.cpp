#include "oas/model/reward.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

Reward::Reward(Kind kind, std::vector<double> values) : kind_(kind), values_(std::move(values)) {
  check_finite(values_, "reward");
}

Reward Reward::by_observation(std::vector<double> values) {
  return {Kind::by_observation, std::move(values)};
}

Reward Reward::by_action_state(std::vector<double> values) {
  return {Kind::by_action_state, std::move(values)};
}

Reward Reward::by_transition(std::vector<double> values) {
  return {Kind::by_transition, std::move(values)};
}

Reward Reward::by_table(RewardTable table) {
  Reward reward(Kind::by_transition, {});
  reward.table_ = std::make_shared<const RewardTable>(std::move(table));
  return reward;
}

namespace {

std::vector<double> all_values(const RewardTable& table) {
  const int s = table.num_states();
  std::vector<double> values;
  for (int row = 0; row < s * table.num_actions(); ++row) {
    for (int next = 0; next < s; ++next) {
      const RewardByObservation& rewards = table.row_at(row)(next);
      for (int o = 0; o < table.num_observations(); ++o) values.push_back(rewards(o));
    }
  }
  return values;
}

}  // namespace

Reward Reward::simplest(RewardTable table) {
  const int rows = table.num_states() * table.num_actions();
  std::vector<double> values;
  if (!table.depends_on_next() && !table.depends_on_observation()) {
    for (int row = 0; row < rows; ++row) values.push_back(table.row_at(row).rest.rest);
    const bool zero = std::all_of(values.begin(), values.end(), [](double r) { return r == 0.0; });
    return zero ? Reward() : by_action_state(std::move(values));
  }
  if (!table.depends_on_next() && !table.depends_on_action_or_state()) {
    for (int o = 0; o < table.num_observations(); ++o) values.push_back(table.row_at(0).rest(o));
    return by_observation(std::move(values));
  }
  const double size = static_cast<double>(rows) * table.num_states() * table.num_observations();
  if (size <= static_cast<double>(kMaxDense)) return by_transition(all_values(table));
  return by_table(std::move(table));
}

RewardTable Reward::to_table(int num_states, int num_actions, int num_observations) const {
  check_size(num_states, num_actions, num_observations);
  if (table_) return *table_;
  if (kind_ == Kind::by_transition) {
    return RewardTable::from_dense(num_states, num_actions, num_observations, values_);
  }
  std::vector<RewardRule> rules;
  for (int i = 0; i < static_cast<int>(values_.size()); ++i) {
    RewardRule rule;
    rule.value = values_[static_cast<std::size_t>(i)];
    if (kind_ == Kind::by_observation) {
      rule.observation = i;
    } else {
      rule.action = i / num_states;
      rule.state = i % num_states;
    }
    rules.push_back(rule);
  }
  return {num_states, num_actions, num_observations, rules};
}

bool operator==(const Reward& a, const Reward& b) {
  if (a.kind_ != b.kind_ || a.values_ != b.values_) return false;
  if (!a.table_ || !b.table_) return a.table_ == b.table_;
  return a.table_ == b.table_ || *a.table_ == *b.table_;
}

void Reward::check_size(int num_states, int num_actions, int num_observations) const {
  if (table_) {
    OAS_REQUIRE(table_->num_states() == num_states && table_->num_actions() == num_actions &&
                    table_->num_observations() == num_observations,
                "reward is for {} states, {} actions and {} observations where the model has {}, "
                "{} and {}",
                table_->num_states(), table_->num_actions(), table_->num_observations(), num_states,
                num_actions, num_observations);
    return;
  }
  const std::size_t expected =
      kind_ == Kind::none             ? 0
      : kind_ == Kind::by_observation ? table_size({num_observations})
      : kind_ == Kind::by_action_state
          ? table_size({num_actions, num_states})
          : table_size({num_actions, num_states, num_states, num_observations});
  OAS_REQUIRE(values_.size() == expected, "reward has {} values where {} are needed",
              values_.size(), expected);
}

bool reward_needs_transition(const Reward& reward, Timing timing) {
  return reward.kind() == Reward::Kind::by_transition ||
         (reward.kind() == Reward::Kind::by_observation && timing == Timing::after);
}

namespace {

// Σ_o Z_a(o|emitter) r(o).
double mean_over_observations(std::span<const double> rewards, const ObservationModel& sensors,
                              Action a, State emitter) {
  const auto z = sensors.distribution(a, emitter);
  return std::inner_product(z.begin(), z.end(), rewards.begin(), 0.0);
}

// Σ_s' T_a(s,s') Σ_o Z_a(o|emitter) R(a,s,s',o); `rewards` is R(a,s,·,·), or r(o) for every s'.
double mean_over_transitions(std::span<const double> rewards, Timing timing,
                             const ObservationModel& sensors, const TransitionModel& transition,
                             Action a, State s) {
  const auto num_observations = static_cast<std::size_t>(sensors.num_observations());
  const bool full = rewards.size() > num_observations;
  double mean = 0.0;
  transition.for_each_next(a, s, [&](State next, double probability) {
    const std::size_t start = full ? static_cast<std::size_t>(next) * num_observations : 0;
    const State emitter = timing == Timing::before ? s : next;
    mean += probability *
            mean_over_observations(rewards.subspan(start, num_observations), sensors, a, emitter);
  });
  return mean;
}

// Σ_o Z_a(o|emitter) r(o) of a row that is mostly constant.
double mean_over_observations(const RewardByObservation& rewards, const ObservationModel& sensors,
                              Action a, State emitter) {
  if (rewards.others.empty()) return rewards.rest;
  const auto z = sensors.distribution(a, emitter);
  double elsewhere = 1.0;
  double mean = 0.0;
  for (const auto& [o, value] : rewards.others) {
    mean += z[static_cast<std::size_t>(o)] * value;
    elsewhere -= z[static_cast<std::size_t>(o)];
  }
  return mean + elsewhere * rewards.rest;
}

// The same sum as mean_over_transitions for R(a,s,·,·) as a row of a RewardTable.
double mean_over_row(const RewardRow& row, Timing timing, const ObservationModel& sensors,
                     const TransitionModel& transition, Action a, State s) {
  double mean = 0.0;
  transition.for_each_next(a, s, [&](State next, double probability) {
    const State emitter = timing == Timing::before ? s : next;
    mean += probability * mean_over_observations(row(next), sensors, a, emitter);
  });
  return mean;
}

}  // namespace

Matrix expected_reward(const Reward& reward, Timing timing, const ObservationModel& sensors,
                       const TransitionModel* transition) {
  OAS_REQUIRE(transition != nullptr || !reward_needs_transition(reward, timing),
              "the expected reward depends on the transition model, and the model has none");
  const int num_states = sensors.num_states();
  reward.check_size(num_states, sensors.num_actions(), sensors.num_observations());
  OAS_REQUIRE(transition == nullptr || (transition->num_states() == num_states &&
                                        transition->num_actions() == sensors.num_actions()),
              "a transition model of {} states and {} actions, sensors of {} and {}",
              transition->num_states(), transition->num_actions(), num_states,
              sensors.num_actions());
  const std::size_t block =
      static_cast<std::size_t>(num_states) * static_cast<std::size_t>(sensors.num_observations());
  const auto values = reward.values();
  const auto mean = [&](Action a, State s, std::size_t row) {
    switch (reward.kind()) {
      case Reward::Kind::none:
        return 0.0;
      case Reward::Kind::by_action_state:
        return values[row];
      case Reward::Kind::by_observation:
        return timing == Timing::before
                   ? mean_over_observations(values, sensors, a, s)
                   : mean_over_transitions(values, timing, sensors, *transition, a, s);
      case Reward::Kind::by_transition:
        break;
    }
    if (const auto& full = reward.table()) {
      return mean_over_row(full->row(a, s), timing, sensors, *transition, a, s);
    }
    return mean_over_transitions(values.subspan(row * block, block), timing, sensors, *transition,
                                 a, s);
  };
  Matrix table(sensors.num_actions(), num_states);
  for (int a = 0; a < sensors.num_actions(); ++a) {
    for (int s = 0; s < num_states; ++s) {
      table(a, s) = mean(Action{a}, State{s}, static_cast<std::size_t>(a) * num_states + s);
    }
  }
  return table;
}

}  // namespace oas
