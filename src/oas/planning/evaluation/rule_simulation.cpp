#include "oas/planning/evaluation/rule_simulation.hpp"

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/batch_simulation.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

// A rule that acts: an Agent.
class RuleAgent {
 public:
  /// Keeps a reference to the rewards.
  RuleAgent(const BeliefRule& rule, const Matrix& rewards)
      : rule_(rule), filter_(rule.model), rewards_(rewards) {}

  void begin(Observation first) { filter_.begin(first); }
  Choice act(Rng& rng) {
    const Choice choice =
        explore(rule_.best(filter_.belief()), rule_.floor, rule_.model.num_actions(), rng);
    last_ = choice.action;
    return choice;
  }
  void observe(Observation observation) { filter_.update(last_, observation); }
  [[nodiscard]] double worth(const Choice& choice, const Environment::Outcome& outcome) const {
    return rewards_(choice.action.value(), outcome.state.value());
  }

 private:
  BeliefRule rule_;  // a copy: it has work space of its own
  BeliefFilter filter_;
  const Matrix& rewards_;
  Action last_{0};
};

}  // namespace

RuleValue simulate_rule(const Pomdp& truth, const BeliefRule& rule,
                        const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  OAS_REQUIRE(rule.model.num_actions() == truth.num_actions() &&
                  rule.model.num_observations() == truth.num_observations(),
              "the policy keeps beliefs for {}, but the model is {}", rule.model.brief(),
              truth.brief());
  const auto states = static_cast<std::size_t>(truth.num_states());
  const Matrix rewards = truth.expected_reward();
  std::vector<double> counts(static_cast<std::size_t>(options.replications) * states, 0.0);
  RuleValue result;
  result.gain = detail::simulate_batches(
      truth, options, parallelism, [&] { return RuleAgent(rule, rewards); },
      [&](std::size_t replication, const Environment::Outcome& outcome) {
        counts[replication * states + static_cast<std::size_t>(outcome.state)] += 1.0;
      });
  result.frequencies.assign(states, 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    result.frequencies[i % states] += counts[i] / static_cast<double>(result.gain.steps);
  }
  return result;
}

}  // namespace oas
