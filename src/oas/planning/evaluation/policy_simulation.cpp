#include "oas/planning/evaluation/policy_simulation.hpp"

#include <optional>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/batch_simulation.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

namespace {

constexpr double kMostProducts = 1e6;  // of one look-ahead

// v(b) = max_k α_k·b with the truth as the model to look ahead in.
Plan judge_of(const Pomdp& truth, const AlphaPolicy& policy) {
  Plan plan(truth);
  plan.bias = VectorBias{policy.alpha};
  return plan;
}

bool judge_pays(const Pomdp& truth, const AlphaPolicy& policy) {
  const double states = truth.num_states();
  return policy.num_seen == 1 && states * truth.num_actions() * truth.num_observations() *
                                         (states + policy.num_vectors()) <=
                                     kMostProducts;
}

// One run of an α-vector policy: one number a step.
class AlphaRun {
 public:
  AlphaRun(const Pomdp& truth, const AlphaActions& actions, const Pomdp& filter, const Plan* judge,
           const SimulationOptions& options, std::uint32_t replication)
      : environment_(truth, Rng({options.seed, replication, Role::environment})),
        actions_(actions),
        agent_belief_(filter),
        rewards_(truth.expected_reward()),
        values_(static_cast<std::size_t>(truth.num_actions())) {
    if (judge != nullptr) {
      judge_.emplace(*judge);
      true_belief_.emplace(truth);
    }
  }

  double step() {
    const Action action{actions_(agent_belief_.belief())};
    double sample = 0.0;
    if (judge_) {
      judge_->action_values(true_belief_->belief(), values_);
      sample = values_[static_cast<std::size_t>(action)] - judge_->bias(true_belief_->belief());
    }
    const Environment::Outcome outcome = environment_.step(action);
    if (!judge_) sample = rewards_(action.value(), outcome.state.value());
    agent_belief_.update(action, outcome.observation);
    if (judge_) true_belief_->update(action, outcome.observation);
    return sample;
  }

 private:
  Environment environment_;
  AlphaActions actions_;
  BeliefFilter agent_belief_;
  Matrix rewards_;
  std::vector<double> values_;
  std::optional<LookAhead> judge_;
  std::optional<BeliefFilter> true_belief_;
};

// One run of a policy graph. The hidden state is known here: its expected reward has less noise
// than the reward.
class GraphRun {
 public:
  GraphRun(const Pomdp& truth, const PolicyGraph& graph, int start_node,
           const SimulationOptions& options, std::uint32_t replication)
      : environment_(truth, Rng({options.seed, replication, Role::environment})),
        rng_({options.seed, replication, Role::agent}),
        agent_(graph, start_node),
        rewards_(truth.expected_reward()) {}

  double step() {
    const Choice choice = agent_.act(rng_);
    const Environment::Outcome outcome = environment_.step(choice.action);
    agent_.observe(outcome.observation);
    return rewards_(choice.action.value(), outcome.state.value());
  }

 private:
  Environment environment_;
  Rng rng_;
  GraphAgent agent_;
  Matrix rewards_;
};

}  // namespace

GainInterval evaluate_by_simulation(const Pomdp& truth, const AlphaPolicy& policy,
                                    const Pomdp& filter, const StateSplit& split,
                                    const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  OAS_REQUIRE(filter.num_states() == truth.num_states() &&
                  filter.num_actions() == truth.num_actions() &&
                  filter.num_observations() == truth.num_observations(),
              "the filter's model is {}, but the model is {}", filter.brief(), truth.brief());
  const AlphaActions actions(policy, filter, split);
  std::optional<Plan> judge;
  if (options.control_variate && judge_pays(truth, policy)) judge = judge_of(truth, policy);
  return detail::simulate_batches(options, parallelism, [&](std::uint32_t replication) {
    return AlphaRun(truth, actions, filter, judge ? &*judge : nullptr, options, replication);
  });
}

GainInterval evaluate_by_simulation(const Pomdp& truth, const PolicyGraph& graph, int start_node,
                                    const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  graph.check_fits(truth);
  return detail::simulate_batches(options, parallelism, [&](std::uint32_t replication) {
    return GraphRun(truth, graph, start_node, options, replication);
  });
}

}  // namespace oas
