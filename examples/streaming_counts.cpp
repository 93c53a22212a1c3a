// Count pairs in your own loop, on several threads or machines: integer counts can be merged in any
// order and give the same bits.

#include <fmt/format.h>

#include <oas/counts/pair_counts.hpp>
#include <oas/estimation/moments/oas.hpp>
#include <oas/oas.hpp>

int main() {
  const oas::Pomdp link = oas::network_link();
  constexpr std::size_t kWorkers = 4;

  // Each worker keeps its own counts; here a worker is a simulated run.
  std::vector<oas::PairCounts> counts(kWorkers,
                                      oas::PairCounts(link.num_actions(), link.num_observations()));
  oas::parallel_for(kWorkers, {.threads = 0}, [&](std::size_t worker) {
    oas::Environment system(link, oas::Rng({2, static_cast<std::uint32_t>(worker)}));
    oas::Rng choices({2, static_cast<std::uint32_t>(worker), oas::Role::agent});
    oas::UniformPolicy policy(link.num_actions());
    oas::Action action = policy.act(choices).action;
    oas::Observation observation = system.step(action).observation;
    for (int t = 1; t < 250'000; ++t) {
      const oas::Action next_action = policy.act(choices).action;
      const oas::Observation next_observation = system.step(next_action).observation;
      counts[worker].add(action, observation, next_action, next_observation);
      action = next_action;
      observation = next_observation;
    }
  });

  oas::PairCounts all = counts[0];
  for (std::size_t worker = 1; worker < kWorkers; ++worker) all.merge(counts[worker]);
  const oas::TransitionEstimate learned = oas::estimate_oas(all, link);
  const auto error = oas::transition_error(link.transition(), learned.transition);
  fmt::print("{} pairs, Frobenius error {:.4f}\n", all.total(), error.frobenius);
  return error.frobenius < 0.1 ? 0 : 1;
}
