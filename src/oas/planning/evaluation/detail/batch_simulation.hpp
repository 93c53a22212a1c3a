#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oas/core/interruption.hpp"
#include "oas/planning/evaluation/detail/final_classes.hpp"
#include "oas/planning/evaluation/detail/transient_steps.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/simulation/run.hpp"

namespace oas::detail {

/// After so many steps a simulation looks whether it is to stop.
inline constexpr std::uint64_t kStepsUnasked = 1 << 16;

/// The interval of what the steps of an agent in `truth` are worth: make() gives a new agent, which
/// also answers worth(choice, outcome) before it is told the observation. Replications run in
/// parallel and are combined in order. seen(replication, outcome) is told of every step that
/// counts.
template <class Make, class Seen>
[[nodiscard]] GainInterval simulate_batches(const Pomdp& truth, const SimulationOptions& options,
                                            Parallelism parallelism, Make make, Seen seen) {
  const auto batches = static_cast<std::size_t>(options.batches_per_replication);
  const auto replications = static_cast<std::size_t>(options.replications);
  const std::uint64_t length = options.steps / (batches * replications);
  std::vector<double> means(batches * replications, 0.0);
  const CommunicationReport report = analyse_communication(truth.transition(), truth.start());
  const TransientSteps transient(truth, report);
  const FinalClasses classes(truth, report);
  std::vector<char> leaves(replications, 0);  // in the last batch
  std::vector<int> ended(replications, 0);    // in this class
  parallel_for(replications, parallelism, [&](std::size_t r) {
    const auto replication = static_cast<std::uint32_t>(r);
    Environment environment(truth, Rng({options.seed, replication, Role::environment}));
    Rng rng({options.seed, replication, Role::agent});
    auto agent = make();
    const auto total = [&](std::uint64_t steps, bool counts) {
      double sum = 0.0;
      const auto watch = [&](const Choice& choice, const Environment::Outcome& outcome) {
        sum += agent.worth(choice, outcome);
        if (transient(choice.action, outcome.state)) leaves[r] = 1;
        ended[r] = report.class_of[static_cast<std::size_t>(outcome.state)];
        if (counts) seen(r, outcome);
      };
      for (std::uint64_t left = steps; left > 0;) {
        check_interrupted();
        const std::uint64_t some = std::min(left, kStepsUnasked);
        play(environment, agent, rng, some, watch);
        left -= some;
      }
      return sum;
    };
    total(options.burn_in, false);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      leaves[r] = 0;
      means[r * batches + batch] = total(length, true) / static_cast<double>(length);
    }
  });
  GainInterval interval =
      batch_means_interval(means, options.batches_per_replication, options.level);
  if (classes.several()) {
    classes.set_limits(ended, means, options.batches_per_replication, interval);
  }
  interval.steps = length * batches * replications;
  interval.seed = options.seed;
  if (std::find(leaves.begin(), leaves.end(), 1) != leaves.end()) {
    interval.transient = true;
    interval.lower_limit = std::min(interval.lower_limit, transient.least_reward_in_the_end());
    interval.upper_limit = std::max(interval.upper_limit, transient.most_reward_in_the_end());
  }
  return interval;
}

template <class Make>
[[nodiscard]] GainInterval simulate_batches(const Pomdp& truth, const SimulationOptions& options,
                                            Parallelism parallelism, Make make) {
  return simulate_batches(truth, options, parallelism, make,
                          [](std::size_t /*replication*/, const Environment::Outcome&) {});
}

}  // namespace oas::detail
