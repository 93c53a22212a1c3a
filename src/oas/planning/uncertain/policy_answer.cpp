#include "oas/planning/uncertain/policy_answer.hpp"

#include <algorithm>
#include <cmath>

#include "oas/planning/evaluation/rule_simulation.hpp"

namespace oas {

namespace {

constexpr double kAgreement = 1e-3;  // of the rewards
constexpr std::uint64_t kBurnInPerDraw = 200;

// Replications where runs end in one of several ways, of which a single one tells little.
constexpr int kRunsToTheEnd = 2000;
constexpr int kRunsToTheEndPerDraw = 100;

AnswerOptions with_replications(AnswerOptions options, int replications) {
  SimulationOptions& simulation = options.simulation;
  simulation.replications = std::max(simulation.replications, replications);
  const auto batches = static_cast<std::uint64_t>(simulation.batches_per_replication) *
                       static_cast<std::uint64_t>(simulation.replications);
  simulation.steps = std::max(simulation.steps, batches);
  return options;
}

RuleValue simulate(const Pomdp& truth, const BeliefRule& rule, const AnswerOptions& options,
                   Parallelism parallelism) {
  return options.discount
             ? simulate_discounted(truth, rule, *options.discount, options.simulation, parallelism)
             : simulate_rule(truth, rule, options.simulation, parallelism);
}

ControllerValue evaluate(const Pomdp& truth, const Controller& controller,
                         const AnswerOptions& options) {
  return options.discount ? evaluate_discounted(truth, controller, *options.discount)
                          : evaluate_controller(truth, controller);
}

PosteriorValue simulate_over(std::span<const Pomdp> draws, const BeliefRule& rule,
                             AnswerOptions options, Parallelism parallelism) {
  options.simulation.steps = std::min(options.simulation.steps, kSimulatedStepsPerDraw);
  options.simulation.burn_in = std::min(options.simulation.burn_in, kBurnInPerDraw);
  PosteriorValue result;
  for (const Pomdp& draw : draws) {
    const RuleValue value = simulate(draw, rule, options, parallelism);
    result.gains.push_back(value.gain.mean);
    result.frequencies.insert(result.frequencies.end(), value.frequencies.begin(),
                              value.frequencies.end());
  }
  return result;
}

}  // namespace

PolicyAnswer answer_about(const AskedPolicy& policy, const Pomdp& model,
                          std::span<const Pomdp> draws, const AnswerOptions& options,
                          Parallelism parallelism) {
  const StartedPolicy ready = started(policy);
  PolicyAnswer answer;
  answer.tolerance = ready.tolerance;
  answer.value = evaluate(model, ready.controller, options);
  if (ready.tolerance > 0.0) {
    const auto& rule = std::get<BeliefRule>(policy.acts);
    const bool several = answer.value.num_classes > 1;
    const RuleValue itself =
        simulate(model, rule, with_replications(options, several ? kRunsToTheEnd : 1), parallelism);
    const Matrix rewards = model.expected_reward();
    const double steps = options.discount ? 1.0 / (1.0 - *options.discount) : 1.0;
    const double allowed =
        itself.gain.half_width + kAgreement * steps * (rewards.maxCoeff() - rewards.minCoeff());
    // What a simulation has not lived to see, as a failure for ever, the nodes know.
    if (!itself.gain.transient && std::abs(itself.gain.mean - answer.value.gain) > allowed) {
      answer.simulated = itself.gain;
      answer.value = {itself.gain.mean, itself.frequencies, 0, 0, 0.0};
      if (!draws.empty()) {
        answer.drawn = simulate_over(draws, rule,
                                     with_replications(options, several ? kRunsToTheEndPerDraw : 1),
                                     parallelism);
      }
      return answer;
    }
  }
  if (draws.empty()) return answer;
  answer.drawn = options.discount
                     ? discounted_over(draws, ready.controller, *options.discount, parallelism)
                     : evaluate_over(draws, ready.controller, parallelism);
  return answer;
}

}  // namespace oas
