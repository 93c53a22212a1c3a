#include "oas/planning/evaluation/policy_simulation.hpp"

#include <optional>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/batch_simulation.hpp"
#include "oas/planning/look_ahead.hpp"

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

// An α-vector policy that plays in the truth and says what its steps are worth.
class JudgedAlpha {
 public:
  JudgedAlpha(const Pomdp& truth, const AlphaActions& actions, const Pomdp& filter,
              const Plan* judge)
      : actions_(actions),
        agent_belief_(filter),
        rewards_(truth.expected_reward()),
        values_(static_cast<std::size_t>(truth.num_actions())) {
    if (judge != nullptr) {
      judge_.emplace(*judge);
      true_belief_.emplace(truth);
    }
  }

  void begin(Observation first) {
    agent_belief_.begin(first);
    if (judge_) true_belief_->begin(first);
  }

  Choice act(Rng& /*rng*/) {
    last_ = Action{actions_(agent_belief_.belief())};
    return {last_, 1.0};
  }

  void observe(Observation observation) {
    agent_belief_.update(last_, observation);
    if (judge_) true_belief_->update(last_, observation);
  }

  [[nodiscard]] double worth(const Choice& choice, const Environment::Outcome& outcome) {
    if (!judge_) return rewards_(choice.action.value(), outcome.state.value());
    judge_->action_values(true_belief_->belief(), values_);
    return values_[static_cast<std::size_t>(choice.action)] - judge_->bias(true_belief_->belief());
  }

 private:
  AlphaActions actions_;
  BeliefFilter agent_belief_;
  Matrix rewards_;
  std::vector<double> values_;
  std::optional<LookAhead> judge_;
  std::optional<BeliefFilter> true_belief_;
  Action last_;
};

// A policy graph likewise. The hidden state is known here: its expected reward has less noise than
// the reward.
class JudgedGraph : public GraphAgent {
 public:
  JudgedGraph(const Pomdp& truth, const PolicyGraph& graph, int start_node)
      : GraphAgent(graph, start_node), rewards_(truth.expected_reward()) {}

  [[nodiscard]] double worth(const Choice& choice, const Environment::Outcome& outcome) const {
    return rewards_(choice.action.value(), outcome.state.value());
  }

 private:
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
  return detail::simulate_batches(truth, options, parallelism, [&] {
    return JudgedAlpha(truth, actions, filter, judge ? &*judge : nullptr);
  });
}

GainInterval evaluate_by_simulation(const Pomdp& truth, const PolicyGraph& graph, int start_node,
                                    const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  graph.check_fits(truth);
  return detail::simulate_batches(truth, options, parallelism,
                                  [&] { return JudgedGraph(truth, graph, start_node); });
}

}  // namespace oas
