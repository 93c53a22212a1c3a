#pragma once

#include <vector>

#include "oas/planning/evaluation/policy_evaluation.hpp"

namespace oas::detail {

/// The interval of what `make(replication).step()` gives a step: replications run in parallel and
/// are combined in order.
template <class Make>
[[nodiscard]] GainInterval simulate_batches(const SimulationOptions& options,
                                            Parallelism parallelism, Make make) {
  const auto batches = static_cast<std::size_t>(options.batches_per_replication);
  const auto replications = static_cast<std::size_t>(options.replications);
  const std::uint64_t length = options.steps / (batches * replications);
  std::vector<double> means(batches * replications, 0.0);
  parallel_for(replications, parallelism, [&](std::size_t r) {
    auto run = make(static_cast<std::uint32_t>(r));
    for (std::uint64_t t = 0; t < options.burn_in; ++t) run.step();
    for (std::size_t batch = 0; batch < batches; ++batch) {
      double sum = 0.0;
      for (std::uint64_t t = 0; t < length; ++t) sum += run.step();
      means[r * batches + batch] = sum / static_cast<double>(length);
    }
  });
  GainInterval interval =
      batch_means_interval(means, options.batches_per_replication, options.level);
  interval.steps = length * batches * replications;
  interval.seed = options.seed;
  return interval;
}

}  // namespace oas::detail
