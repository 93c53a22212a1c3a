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

SimulationOptions with_replications(SimulationOptions simulation, int replications) {
  simulation.replications = std::max(simulation.replications, replications);
  const auto batches = static_cast<std::uint64_t>(simulation.batches_per_replication) *
                       static_cast<std::uint64_t>(simulation.replications);
  simulation.steps = std::max(simulation.steps, batches);
  return simulation;
}

PosteriorValue simulate_over(std::span<const Pomdp> draws, const BeliefRule& rule,
                             SimulationOptions simulation, Parallelism parallelism) {
  simulation.steps = std::min(simulation.steps, kSimulatedStepsPerDraw);
  simulation.burn_in = std::min(simulation.burn_in, kBurnInPerDraw);
  PosteriorValue result;
  for (const Pomdp& draw : draws) {
    const RuleValue value = simulate_rule(draw, rule, simulation, parallelism);
    result.gains.push_back(value.gain.mean);
    result.frequencies.insert(result.frequencies.end(), value.frequencies.begin(),
                              value.frequencies.end());
  }
  return result;
}

}  // namespace

PolicyAnswer answer_about(const AskedPolicy& policy, const Pomdp& model,
                          std::span<const Pomdp> draws, const SimulationOptions& simulation,
                          Parallelism parallelism) {
  const StartedPolicy ready = started(policy);
  PolicyAnswer answer;
  answer.tolerance = ready.tolerance;
  answer.value = evaluate_controller(model, ready.controller);
  if (ready.tolerance > 0.0) {
    const auto& rule = std::get<BeliefRule>(policy.acts);
    const bool several = answer.value.num_classes > 1;
    const SimulationOptions many = with_replications(simulation, several ? kRunsToTheEnd : 1);
    const RuleValue itself = simulate_rule(model, rule, many, parallelism);
    const Matrix rewards = model.expected_reward();
    const double allowed =
        itself.gain.half_width + kAgreement * (rewards.maxCoeff() - rewards.minCoeff());
    // What a simulation has not lived to see, as a failure for ever, the nodes know.
    if (!itself.gain.transient && std::abs(itself.gain.mean - answer.value.gain) > allowed) {
      answer.simulated = itself.gain;
      answer.value = {itself.gain.mean, itself.frequencies, 0, 0, 0.0};
      if (!draws.empty()) {
        answer.drawn = simulate_over(
            draws, rule, with_replications(simulation, several ? kRunsToTheEndPerDraw : 1),
            parallelism);
      }
      return answer;
    }
  }
  if (!draws.empty()) answer.drawn = evaluate_over(draws, ready.controller, parallelism);
  return answer;
}

}  // namespace oas
