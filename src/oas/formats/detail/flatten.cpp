#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "oas/core/contracts.hpp"
#include "oas/formats/detail/factor.hpp"

namespace oas::detail {

Factor::Factor(std::vector<int> scope, std::vector<int> sizes, std::size_t max_table)
    : scope_(std::move(scope)), sizes_(std::move(sizes)) {
  const std::size_t width = sizes_.empty() ? 1 : static_cast<std::size_t>(sizes_.back());
  std::size_t num_rows = 1;
  for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
    num_rows *= static_cast<std::size_t>(sizes_[i]);
  }
  table_ = RowTable(num_rows, width, max_table);
}

namespace {

double product(const std::vector<Variable>& variables) {
  double size = 1.0;
  for (const Variable& variable : variables) size *= variable.size();
  return size;
}

int count(const std::vector<Variable>& variables, const char* what) {
  const double size = product(variables);
  OAS_REQUIRE(size <= kMaxValues, "{:.0f} {} are more than the limit of {}", size, what,
              kMaxValues);
  return static_cast<int>(size);
}

}  // namespace

int FactoredModel::num_states() const { return count(states, "states"); }

int FactoredModel::num_actions() const { return count(actions, "actions"); }

int FactoredModel::slot(SlotKind role, int variable) const {
  int first = 0;
  if (role != SlotKind::action) first += static_cast<int>(actions.size());
  if (role == SlotKind::state_after || role == SlotKind::observation) {
    first += static_cast<int>(states.size());
  }
  if (role == SlotKind::observation) first += static_cast<int>(states.size());
  return first + variable;
}

namespace {

bool is_index(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Flattener {
 public:
  Flattener(const FactoredModel& model, std::size_t max_numbers, Faults& faults, Warnings& warnings)
      : model_(model),
        max_numbers_(max_numbers),
        faults_(faults),
        warnings_(warnings),
        assignment_(model.slots.size(), 0),
        budget_(max_numbers) {}

  Pomdp flatten() {
    num_states_ = model_.num_states();
    num_actions_ = model_.num_actions();
    order_states();
    PomdpParts parts;
    parts.timing = Timing::after;
    parts.states = labels(model_.states, "state");
    parts.actions = labels(model_.actions, "action");
    parts.start = start();
    parts.transition = transition(parts.actions, parts.states);
    find_observations();
    parts.observations = observation_labels();
    parts.sensors = ObservationModel(num_states_, num_actions_, static_cast<int>(observed_.size()),
                                     sensors(parts.actions, parts.states));
    faults_.throw_if_any();
    parts.reward = reward();
    parts.discount = model_.discount;
    return Pomdp(std::move(parts));
  }

 private:
  void check_limit(std::size_t width) const {
    const double size =
        static_cast<double>(num_actions_) * num_states_ * static_cast<double>(width);
    OAS_REQUIRE(size <= static_cast<double>(max_numbers_),
                "{} states and {} actions flattened need a table of {:.0f} numbers, more than the "
                "limit of {}",
                num_states_, num_actions_, size, max_numbers_);
  }

  // Sets the slots of one role to the combination with this index.
  void assign(SlotKind role, const std::vector<Variable>& variables, std::int64_t index) {
    for (int v = static_cast<int>(variables.size()) - 1; v >= 0; --v) {
      const int size = variables[static_cast<std::size_t>(v)].size();
      at(role, v) = static_cast<int>(index % size);
      index /= size;
    }
  }

  int& at(SlotKind role, int variable) {
    return assignment_[static_cast<std::size_t>(model_.slot(role, variable))];
  }

  // State variables, each after those of the same step that its factor depends on.
  void order_states() {
    const int n = static_cast<int>(model_.states.size());
    std::vector<int> mark(model_.states.size(), 0);  // 1: being visited, 2: done
    const auto visit = [&](auto&& self, int v) -> void {
      auto& m = mark[static_cast<std::size_t>(v)];
      if (m == 2) return;
      OAS_REQUIRE(m == 0, "the state variables depend on each other in a circle");
      m = 1;
      for (const int slot : model_.transition[static_cast<std::size_t>(v)].scope()) {
        const Slot& s = model_.slots[static_cast<std::size_t>(slot)];
        if (s.role == SlotKind::state_after && s.variable != v) self(self, s.variable);
      }
      m = 2;
      order_.push_back(v);
    };
    for (int v = 0; v < n; ++v) visit(visit, v);
  }

  Labels labels(const std::vector<Variable>& variables, const char* kind) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(product(variables)));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return labels(variables, all, kind);
  }

  // Names of some combinations of values: "value_value".
  Labels labels(const std::vector<Variable>& variables,
                const std::vector<std::int64_t>& combinations, const char* kind) {
    const int size = static_cast<int>(combinations.size());
    if (variables.size() == 1 && variables.front().numbered) return {size, kind};
    std::vector<std::string> names;
    for (std::int64_t combination : combinations) {
      std::string name;
      for (std::size_t v = variables.size(); v-- > 0;) {
        const auto& values = variables[v].values;
        const auto& value = values[static_cast<std::size_t>(combination) % values.size()];
        name = name.empty() ? value : fmt::format("{}_{}", value, name);
        combination /= variables[v].size();
      }
      names.push_back(is_index(name) ? fmt::format("{}{}", kind[0], name) : name);
    }
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) {
      return {std::move(names), kind};
    }
    warnings_.add(kind, 0,
                  fmt::format("names of {}s would not be unique; they are numbered", kind));
    return {size, kind};
  }

  std::vector<double> start() {
    std::vector<double> values(static_cast<std::size_t>(num_states_));
    for (int s = 0; s < num_states_; ++s) {
      assign(SlotKind::state_before, model_.states, s);
      double p = 1.0;
      for (const Factor& factor : model_.start) p *= factor(assignment_);
      values[static_cast<std::size_t>(s)] = p;
    }
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    const double off = std::abs(sum - 1.0);
    OAS_REQUIRE(off <= kTextTolerance, "the initial belief sums to {:.8g}, not to 1", sum);
    if (off > kRoundingTolerance) {
      for (double& p : values) p /= sum;
      warnings_.add("start", 0,
                    fmt::format("the initial belief is off 1 by {:.2g}; renormalised", off));
    }
    warn_about_observed_start(values);
    return values;
  }

  // Here nothing is observed before the first action; in POMDPX these variables are.
  void warn_about_observed_start(const std::vector<double>& start) {
    for (int v = 0; v < static_cast<int>(model_.states.size()); ++v) {
      const Variable& variable = model_.states[static_cast<std::size_t>(v)];
      if (!variable.fully_observed) continue;
      int known = kAll;
      bool open = false;
      for (int s = 0; s < num_states_; ++s) {
        if (start[static_cast<std::size_t>(s)] == 0.0) continue;
        assign(SlotKind::state_before, model_.states, s);
        open = open || (known != kAll && known != at(SlotKind::state_before, v));
        known = at(SlotKind::state_before, v);
      }
      if (open) {
        warnings_.add("observed start", 0,
                      fmt::format("'{}' is fully observed, but its first value is open and is seen "
                                  "only after the first action",
                                  variable.name));
      }
    }
  }

  // Visits all outcomes of factors[order[i]], i >= depth, with their probability.
  template <class Visit>
  void expand(const std::vector<Factor>& factors, const std::vector<int>& order, SlotKind role,
              std::size_t depth, double probability, Visit visit) {
    if (depth == order.size()) {
      visit(probability);
      return;
    }
    const int v = order[depth];
    const Factor& factor = factors[static_cast<std::size_t>(v)];
    budget_.take(factor.row_cost());
    factor.for_each(assignment_, [&](int value, double p) {
      budget_.take(1);
      at(role, v) = value;
      expand(factors, order, role, depth + 1, probability * p, visit);
    });
  }

  std::int64_t index_of(SlotKind role, const std::vector<Variable>& variables) {
    std::int64_t index = 0;
    for (int v = 0; v < static_cast<int>(variables.size()); ++v) {
      index = index * variables[static_cast<std::size_t>(v)].size() + at(role, v);
    }
    return index;
  }

  TransitionModel transition(const Labels& actions, const Labels& states) {
    auto table = ProbabilityTable::for_transition(num_actions_, num_states_, max_numbers_, budget_);
    for (int a = 0; a < num_actions_; ++a) {
      assign(SlotKind::action, model_.actions, a);
      for (int s = 0; s < num_states_; ++s) {
        assign(SlotKind::state_before, model_.states, s);
        expand(model_.transition, order_, SlotKind::state_after, 0, 1.0, [&](double p) {
          const auto next = index_of(SlotKind::state_after, model_.states);
          table.set(a, s, static_cast<int>(next), p, model_.transition_line);
        });
      }
    }
    table.finish("the transition", actions, states, faults_, warnings_);
    faults_.throw_if_any();
    return table.take_transition();
  }

  // The combination of all that is observed: fully observed state variables, then observations.
  std::int64_t observation_index() {
    std::int64_t index = 0;
    for (int v = 0; v < static_cast<int>(model_.states.size()); ++v) {
      const Variable& variable = model_.states[static_cast<std::size_t>(v)];
      if (variable.fully_observed) index = index * variable.size() + at(SlotKind::state_after, v);
    }
    for (int v = 0; v < static_cast<int>(model_.observations.size()); ++v) {
      index = index * model_.observations[static_cast<std::size_t>(v)].size() +
              at(SlotKind::observation, v);
    }
    return index;
  }

  // Calls visit(a, s', p) for every observation that can be made, the slots set to it.
  template <class Visit>
  void for_each_emission(Visit visit) {
    std::vector<int> order(model_.observations.size());
    std::iota(order.begin(), order.end(), 0);
    for (int a = 0; a < num_actions_; ++a) {
      assign(SlotKind::action, model_.actions, a);
      for (int s = 0; s < num_states_; ++s) {
        assign(SlotKind::state_after, model_.states, s);
        expand(model_.sensors, order, SlotKind::observation, 0, 1.0,
               [&](double p) { visit(a, s, p); });
      }
    }
  }

  void find_observations() {
    for (const Variable& variable : model_.states) {
      if (variable.fully_observed) seen_.push_back(variable);
    }
    const bool mixed = !seen_.empty();
    seen_.insert(seen_.end(), model_.observations.begin(), model_.observations.end());
    if (!mixed) {
      observed_.resize(static_cast<std::size_t>(count(seen_, "observations")));
      check_limit(observed_.size());
      std::iota(observed_.begin(), observed_.end(), std::int64_t{0});
      return;
    }
    OAS_REQUIRE(product(seen_) < 1e15, "the observations have too many combinations");
    std::unordered_set<std::int64_t> found;
    for_each_emission([&](int, int, double) {
      if (!found.insert(observation_index()).second) return;
      OAS_REQUIRE(found.size() <= kMaxValues, "there are more than the limit of {} observations",
                  kMaxValues);
      check_limit(found.size());
    });
    observed_.assign(found.begin(), found.end());
    std::sort(observed_.begin(), observed_.end());
  }

  Labels observation_labels() {
    if (seen_.empty()) return {{"nothing"}, "observation"};
    return labels(seen_, observed_, "observation");
  }

  std::vector<double> sensors(const Labels& actions, const Labels& states) {
    ProbabilityTable table(num_actions_, num_states_, static_cast<int>(observed_.size()),
                           max_numbers_, budget_);
    for_each_emission([&](int a, int s, double p) {
      const auto column = std::lower_bound(observed_.begin(), observed_.end(), observation_index());
      table.set(a, s, static_cast<int>(column - observed_.begin()), p, model_.sensor_line);
    });
    table.finish("the observation", actions, states, faults_, warnings_);
    return table.take();
  }

  [[nodiscard]] bool reward_depends_on(int slot) const {
    return std::any_of(model_.rewards.begin(), model_.rewards.end(), [&](const Factor& factor) {
      return std::ranges::find(factor.scope(), slot) != factor.scope().end();
    });
  }
  [[nodiscard]] bool reward_depends_on(SlotKind role) const {
    for (std::size_t slot = 0; slot < model_.slots.size(); ++slot) {
      if (model_.slots[slot].role == role && reward_depends_on(static_cast<int>(slot))) return true;
    }
    return false;
  }

  double reward_here() {
    budget_.take(1);
    double sum = 0.0;
    for (const Factor& factor : model_.rewards) sum += factor(assignment_);
    return sum + 0.0;
  }

  // Rewards by observation, or one for all.
  RewardByObservation rewards_by_observation(std::size_t num_observations) {
    const auto combinations = static_cast<std::int64_t>(product(model_.observations));
    std::vector<double> values(num_observations);
    for (std::size_t o = 0; o < num_observations; ++o) {
      assign(SlotKind::observation, model_.observations, observed_[o] % combinations);
      values[o] = reward_here();
    }
    return RewardByObservation::of(std::move(values));
  }

  // Rewards at the action and state that are assigned, by next state, or one for all.
  RewardRow reward_row(int num_next, std::size_t num_observations) {
    std::vector<RewardByObservation> by_next;
    for (int next = 0; next < num_next; ++next) {
      assign(SlotKind::state_after, model_.states, next);
      by_next.push_back(rewards_by_observation(num_observations));
    }
    return RewardRow::of(std::move(by_next));
  }

  // (a,s) that agree in all that rewards depend on share a row.
  Reward reward() {
    const int num_next = reward_depends_on(SlotKind::state_after) ? num_states_ : 1;
    const std::size_t num_observed =
        reward_depends_on(SlotKind::observation) ? observed_.size() : 1;
    std::vector<std::size_t> slots;
    for (std::size_t slot = 0; slot < model_.slots.size(); ++slot) {
      const SlotKind role = model_.slots[slot].role;
      const bool known_first = role == SlotKind::action || role == SlotKind::state_before;
      if (known_first && reward_depends_on(static_cast<int>(slot))) slots.push_back(slot);
    }
    std::vector<RewardRow> rows;
    std::vector<int> row_of;
    std::unordered_map<std::int64_t, int> row_with;  // by the values of these slots
    for (int a = 0; a < num_actions_; ++a) {
      assign(SlotKind::action, model_.actions, a);
      for (int s = 0; s < num_states_; ++s) {
        assign(SlotKind::state_before, model_.states, s);
        std::int64_t key = 0;
        for (const std::size_t slot : slots)
          key = key * model_.slots[slot].size + assignment_[slot];
        const auto [place, is_new] = row_with.try_emplace(key, static_cast<int>(rows.size()));
        if (is_new) rows.push_back(reward_row(num_next, num_observed));
        row_of.push_back(place->second);
      }
    }
    return Reward::simplest(RewardTable(num_states_, num_actions_,
                                        static_cast<int>(observed_.size()), std::move(rows),
                                        std::move(row_of)));
  }

  const FactoredModel& model_;
  std::size_t max_numbers_;
  Faults& faults_;
  Warnings& warnings_;
  std::vector<int> assignment_;
  WriteBudget budget_;
  int num_states_ = 0;
  int num_actions_ = 0;
  std::vector<int> order_;
  std::vector<Variable> seen_;
  std::vector<std::int64_t> observed_;
};

}  // namespace

Pomdp flatten(const FactoredModel& model, std::size_t max_numbers, Faults& faults,
              Warnings& warnings) {
  return Flattener(model, max_numbers, faults, warnings).flatten();
}

}  // namespace oas::detail
