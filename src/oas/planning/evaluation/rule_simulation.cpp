#include "oas/planning/evaluation/rule_simulation.hpp"

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

// A rule that acts: an Agent.
class RuleAgent {
 public:
  explicit RuleAgent(const BeliefRule& rule) : rule_(rule), filter_(rule.model) {}

  void begin(Observation first) { filter_.begin(first); }
  Choice act(Rng& rng) {
    const Choice choice =
        explore(rule_.best(filter_.belief()), rule_.floor, rule_.model.num_actions(), rng);
    last_ = choice.action;
    return choice;
  }
  void observe(Observation observation) { filter_.update(last_, observation); }

 private:
  BeliefRule rule_;  // a copy: it has work space of its own
  BeliefFilter filter_;
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
  const auto batches = static_cast<std::size_t>(options.batches_per_replication);
  const auto replications = static_cast<std::size_t>(options.replications);
  const auto states = static_cast<std::size_t>(truth.num_states());
  const std::uint64_t length = options.steps / (batches * replications);
  const Matrix rewards = truth.expected_reward();
  std::vector<double> means(batches * replications, 0.0);
  std::vector<double> counts(replications * states, 0.0);
  parallel_for(replications, parallelism, [&](std::size_t r) {
    const auto replication = static_cast<std::uint32_t>(r);
    Environment environment(truth, Rng({options.seed, replication, Role::environment}));
    Rng rng({options.seed, replication, Role::agent});
    RuleAgent agent(rule);
    play(environment, agent, rng, options.burn_in, [](const auto&, const auto&) {});
    for (std::size_t batch = 0; batch < batches; ++batch) {
      double sum = 0.0;
      play(environment, agent, rng, length,
           [&](const Choice& choice, const Environment::Outcome& outcome) {
             sum += rewards(choice.action.value(), outcome.state.value());
             counts[r * states + static_cast<std::size_t>(outcome.state)] += 1.0;
           });
      means[r * batches + batch] = sum / static_cast<double>(length);
    }
  });
  RuleValue result;
  result.gain = batch_means_interval(means, options.batches_per_replication, options.level);
  result.gain.steps = length * batches * replications;
  result.gain.seed = options.seed;
  result.frequencies.assign(states, 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    result.frequencies[i % states] += counts[i] / static_cast<double>(result.gain.steps);
  }
  return result;
}

}  // namespace oas
