#include "oas/model/convert_timing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kEqual = 1e-12;

bool same_distribution(std::span<const double> x, std::span<const double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i] - y[i]) > kEqual) return false;
  }
  return true;
}

// Sensors for the other end of each transition, or the reason why there are none.
struct MovedSensors {
  std::vector<double> values;
  std::string reason;
};

MovedSensors move_sensors(const Pomdp& model) {
  const bool to_after = model.timing() == Timing::before;
  const int n = model.num_states();
  MovedSensors moved;
  std::vector<int> first(static_cast<std::size_t>(n));  // at the other end of a transition
  for (Action a{0}; a < model.num_actions(); ++a) {
    std::fill(first.begin(), first.end(), -1);
    for (State from{0}; from < n; ++from) {
      model.transition().for_each_next(a, from, [&](State next, double) {
        const int at = to_after ? next : from;
        const int other = to_after ? from : next;
        int& known = first[static_cast<std::size_t>(at)];
        if (known < 0) known = other;
        if (!moved.reason.empty() ||
            same_distribution(model.sensors().distribution(a, State{known}),
                              model.sensors().distribution(a, State{other}))) {
          return;
        }
        const Labels& states = model.states();
        moved.reason = fmt::format(
            "under action {}, state {} {} states {} and {}, which are sensed differently",
            model.actions()[a], states[at], to_after ? "is reached from" : "leads to",
            states[known], states[other]);
      });
      if (!moved.reason.empty()) return moved;
    }
    // A state that this action never leads to may be sensed in any way.
    for (int at = 0; at < n; ++at) {
      const int known = first[static_cast<std::size_t>(at)];
      const auto z = model.sensors().distribution(a, State{known < 0 ? at : known});
      moved.values.insert(moved.values.end(), z.begin(), z.end());
    }
  }
  return moved;
}

Labels joined_labels(const Labels& labels, const std::vector<std::vector<int>>& states) {
  const int size = static_cast<int>(states.size());
  if (!labels.has_names()) return {size, "state"};
  std::vector<std::string> names;
  std::set<std::string> unique;
  for (const auto& parts : states) {
    std::string name;
    for (const int part : parts) {
      if (!name.empty()) name += '-';
      name += labels[part];
    }
    unique.insert(name);
    names.push_back(std::move(name));
  }
  if (unique.size() < names.size()) return {size, "state"};
  return {std::move(names), "state"};
}

bool too_large(const Pomdp& model, std::size_t num_states, const TimingOptions& options) {
  const auto n = static_cast<double>(num_states);
  return n * std::max(n, static_cast<double>(model.num_observations())) * model.num_actions() >
         static_cast<double>(options.max_numbers);
}

// A model of many states, each standing for some states of the given one.
class Expansion {
 public:
  Expansion(const Pomdp& model, std::vector<std::vector<int>> states)
      : model_(model),
        states_(std::move(states)),
        size_(states_.size()),
        transition_(size_ * size_ * static_cast<std::size_t>(model.num_actions())),
        start_(size_) {}

  [[nodiscard]] const std::vector<std::vector<int>>& states() const { return states_; }

  void add_transition(int action, std::size_t from, std::size_t next, double probability) {
    transition_[(static_cast<std::size_t>(action) * size_ + from) * size_ + next] += probability;
  }
  void add_start(std::size_t state, double probability) { start_[state] += probability; }

  // `emitter(a, i)`: the given model's state that is sensed when state i emits under action a.
  Pomdp build(Timing timing, const std::function<int(int, std::size_t)>& emitter, Reward reward) {
    std::vector<double> sensors;
    for (int a = 0; a < model_.num_actions(); ++a) {
      for (std::size_t i = 0; i < size_; ++i) {
        const auto z = model_.sensors().distribution(Action{a}, State{emitter(a, i)});
        sensors.insert(sensors.end(), z.begin(), z.end());
      }
    }
    PomdpParts parts = model_.parts();
    const int n = static_cast<int>(size_);
    parts.timing = timing;
    parts.first_observation.reset();
    parts.observation_counts.reset();
    parts.states = joined_labels(model_.states(), states_);
    parts.start = std::move(start_);
    parts.transition = TransitionModel(n, model_.num_actions(), std::move(transition_));
    parts.sensors =
        ObservationModel(n, model_.num_actions(), model_.num_observations(), std::move(sensors));
    parts.reward = std::move(reward);
    return Pomdp(std::move(parts));
  }

  // `row(a, i)` gives the reward of action a in state i.
  Reward reward(const std::function<RewardRow(int, std::size_t)>& row) const {
    if (model_.reward().kind() == Reward::Kind::none ||
        model_.reward().kind() == Reward::Kind::by_observation) {
      return model_.reward();
    }
    std::vector<RewardRow> rows;
    for (int a = 0; a < model_.num_actions(); ++a) {
      for (std::size_t i = 0; i < size_; ++i) rows.push_back(row(a, i));
    }
    std::vector<int> row_of(rows.size());
    std::iota(row_of.begin(), row_of.end(), 0);
    return Reward::simplest(RewardTable(static_cast<int>(size_), model_.num_actions(),
                                        model_.num_observations(), std::move(rows),
                                        std::move(row_of)));
  }

 private:
  const Pomdp& model_;
  std::vector<std::vector<int>> states_;
  std::size_t size_;
  std::vector<double> transition_;
  std::vector<double> start_;
};

RewardTable table_of(const Pomdp& model) {
  return model.reward().to_table(model.num_states(), model.num_actions(), model.num_observations());
}

bool can_follow(const Pomdp& model, int state, int next) {
  for (int a = 0; a < model.num_actions(); ++a) {
    if (model.transition()(Action{a}, State{state}, State{next}) > 0.0) return true;
  }
  return false;
}

// Pairs (previous, current) that can occur; a start state that nothing leads to follows itself.
std::vector<std::vector<int>> occurring_pairs(const Pomdp& model) {
  std::vector<std::vector<int>> pairs;
  std::vector<bool> reached(static_cast<std::size_t>(model.num_states()), false);
  for (int p = 0; p < model.num_states(); ++p) {
    for (int s = 0; s < model.num_states(); ++s) {
      if (!can_follow(model, p, s)) continue;
      pairs.push_back({p, s});
      reached[static_cast<std::size_t>(s)] = true;
    }
  }
  for (int s = 0; s < model.num_states(); ++s) {
    const auto i = static_cast<std::size_t>(s);
    if (!reached[i] && model.start()[i] > 0.0) pairs.push_back({s, s});
  }
  return pairs;
}

// before → after: T'((p,s) → (s,s')) = T(s,s'), Z'(o | (s,s')) = Z(o | s).
Pomdp expand_to_after(const Pomdp& model, std::vector<std::vector<int>> pairs) {
  std::map<std::vector<int>, std::size_t> number;
  for (std::size_t i = 0; i < pairs.size(); ++i) number.emplace(pairs[i], i);
  Expansion expansion(model, std::move(pairs));
  const auto& states = expansion.states();
  std::vector<bool> started(static_cast<std::size_t>(model.num_states()), false);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const int s = states[i][1];
    for (int a = 0; a < model.num_actions(); ++a) {
      model.transition().for_each_next(Action{a}, State{s}, [&](State next, double p) {
        expansion.add_transition(a, i, number.at({s, next}), p);
      });
    }
    const auto at = static_cast<std::size_t>(s);
    if (!started[at]) expansion.add_start(i, model.start()[at]);
    started[at] = true;
  }
  const RewardTable table = table_of(model);
  Reward reward = expansion.reward([&](int a, std::size_t i) {
    const RewardRow& given = table.row(a, states[i][1]);
    RewardRow row{given.rest, {}};
    for (const auto& [next, rewards] : given.others) {
      const auto found = number.find({states[i][1], next});
      if (found != number.end()) row.others.emplace_back(static_cast<int>(found->second), rewards);
    }
    std::sort(row.others.begin(), row.others.end());
    return row;
  });
  const auto emitter = [&](int, std::size_t i) { return states[i][0]; };
  return expansion.build(Timing::after, emitter, std::move(reward));
}

// Successors drawn ahead, one for each action: the ways in which a visit to a state can go on.
struct Successors {
  std::vector<std::vector<int>> states;                         // [s,] x_1 … x_A
  std::vector<std::vector<std::pair<std::size_t, double>>> of;  // [S]: state and probability
  bool too_many = false;
};

Successors draw_ahead(const Pomdp& model, bool with_state, const TimingOptions& options) {
  Successors result;
  std::map<std::vector<int>, std::size_t> number;
  for (int s = 0; s < model.num_states(); ++s) {
    auto& list = result.of.emplace_back();
    std::vector<int> tuple(with_state ? 1 : 0, s);
    const auto draw = [&](auto&& self, int action, double probability) -> void {
      if (result.too_many) return;
      if (action == model.num_actions()) {
        const auto [known, is_new] = number.try_emplace(tuple, result.states.size());
        if (is_new) result.states.push_back(tuple);
        list.emplace_back(known->second, probability);
        result.too_many = too_large(model, result.states.size(), options);
        return;
      }
      model.transition().for_each_next(Action{action}, State{s}, [&](State next, double p) {
        tuple.push_back(next);
        self(self, action + 1, probability * p);
        tuple.pop_back();
      });
    };
    draw(draw, 0, 1.0);
  }
  return result;
}

// after → before: T'_a(x → x') = P(x' drawn in x_a), Z'_a(o | x) = Z_a(o | x_a).
Pomdp expand_to_before(const Pomdp& model, Successors successors, bool with_state) {
  const auto ahead = std::move(successors.of);
  Expansion expansion(model, std::move(successors.states));
  const auto& states = expansion.states();
  const auto successor = [&](int a, std::size_t i) {
    return states[i][static_cast<std::size_t>(a) + (with_state ? 1 : 0)];
  };
  for (int s = 0; s < model.num_states(); ++s) {
    const double start = model.start()[static_cast<std::size_t>(s)];
    for (const auto& [i, p] : ahead[static_cast<std::size_t>(s)]) {
      expansion.add_start(i, start * p);
    }
  }
  for (int a = 0; a < model.num_actions(); ++a) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      for (const auto& [next, p] : ahead[static_cast<std::size_t>(successor(a, i))]) {
        expansion.add_transition(a, i, next, p);
      }
    }
  }
  const RewardTable table = table_of(model);
  Reward reward = expansion.reward([&](int a, std::size_t i) {
    return RewardRow{table.row(a, states[i][0])(successor(a, i)), {}};
  });
  return expansion.build(Timing::before, successor, std::move(reward));
}

TimingConversion expanded(const Pomdp& model, Timing to, const TimingOptions& options,
                          TimingConversion result) {
  const auto refuse = [&](const char* what) {
    result.reason += fmt::format("; {} would need tables of more than the limit of {} numbers",
                                 what, options.max_numbers);
    return result;
  };
  result.expanded = true;
  if (to == Timing::after) {
    auto pairs = occurring_pairs(model);
    if (too_large(model, pairs.size(), options)) return refuse("states that remember the last one");
    result.model = expand_to_after(model, std::move(pairs));
  } else {
    const bool with_state = model.reward().kind() == Reward::Kind::by_action_state ||
                            model.reward().kind() == Reward::Kind::by_transition;
    Successors successors = draw_ahead(model, with_state, options);
    if (successors.too_many) return refuse("successors drawn ahead for each action");
    result.model = expand_to_before(model, std::move(successors), with_state);
  }
  result.reason.clear();
  return result;
}

}  // namespace

TimingConversion convert_timing(const Pomdp& model, Timing to, const TimingOptions& options) {
  TimingConversion result;
  if (model.timing() == to) {
    result.model = model;
    return result;
  }
  if (model.reading_first()) {
    result.reason =
        "its rows are reading-first, which is a way to write timing after; --rows action-first "
        "drops "
        "the first readings";
    return result;
  }
  if (!model.has_transition()) {
    result.reason = "the model has no transition model, which the other timing depends on";
    return result;
  }
  MovedSensors moved = move_sensors(model);
  result.reason = moved.reason;
  if (moved.reason.empty()) {
    PomdpParts parts = model.parts();
    parts.timing = to;
    parts.first_observation.reset();
    parts.observation_counts.reset();  // they are those of the sensors before
    parts.sensors = ObservationModel(model.num_states(), model.num_actions(),
                                     model.num_observations(), std::move(moved.values));
    result.model = Pomdp(std::move(parts));
    return result;
  }
  return options.expand ? expanded(model, to, options, std::move(result)) : result;
}

}  // namespace oas
