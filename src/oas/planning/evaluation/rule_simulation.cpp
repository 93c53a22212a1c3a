#include "oas/planning/evaluation/rule_simulation.hpp"

#include <cmath>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/batch_simulation.hpp"
#include "oas/planning/evaluation/detail/discounted_runs.hpp"
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

void check_fits(const Pomdp& truth, const BeliefRule& rule) {
  OAS_REQUIRE(rule.model.num_actions() == truth.num_actions() &&
                  rule.model.num_observations() == truth.num_observations(),
              "the policy keeps beliefs for {}, but the model is {}", rule.model.brief(),
              truth.brief());
}

// The interval of a sum to which something between these two is added.
GainInterval with_rest(GainInterval interval, double least, double most) {
  interval.mean += 0.5 * (least + most);
  interval.half_width += 0.5 * (most - least);
  interval.lower_limit += least;
  return interval;
}

}  // namespace

RuleValue simulate_rule(const Pomdp& truth, const BeliefRule& rule,
                        const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  check_fits(truth, rule);
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

RuleValue simulate_discounted(const Pomdp& truth, const BeliefRule& rule, double discount,
                              const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  OAS_REQUIRE(discount > 0.0 && discount < 1.0,
              "discount is {}; it must lie strictly between 0 and 1", discount);
  check_fits(truth, rule);
  const detail::DiscountedRuns cut = detail::discounted_runs(discount, options.steps);
  const auto states = static_cast<std::size_t>(truth.num_states());
  const Matrix rewards = truth.expected_reward();
  std::vector<double> sums(cut.runs);
  std::vector<double> shares(cut.runs * states, 0.0);
  parallel_for(cut.runs, parallelism, [&](std::size_t r) {
    const auto replication = static_cast<std::uint32_t>(r);
    Environment environment(truth, Rng({options.seed, replication, Role::environment}));
    Rng rng({options.seed, replication, Role::agent});
    RuleAgent agent(rule, rewards);
    double weight = 1.0;
    play(environment, agent, rng, cut.length,
         [&](const Choice& choice, const Environment::Outcome& outcome) {
           sums[r] += weight * agent.worth(choice, outcome);
           shares[r * states + static_cast<std::size_t>(outcome.state)] += weight;
           weight *= discount;
         });
  });
  const double left = std::pow(discount, static_cast<double>(cut.length));
  RuleValue result;
  result.gain = with_rest(batch_means_interval(sums, 1, options.level),
                          left / (1.0 - discount) * rewards.minCoeff(),
                          left / (1.0 - discount) * rewards.maxCoeff());
  result.gain.steps = cut.length * cut.runs;
  result.gain.seed = options.seed;
  const double all = static_cast<double>(cut.runs) * (1.0 - left) / (1.0 - discount);
  result.frequencies.assign(states, 0.0);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    result.frequencies[i % states] += shares[i] / all;
  }
  return result;
}

}  // namespace oas
