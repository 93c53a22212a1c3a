// Closed loop: act from the belief, observe, move, filter, append to a log in memory. One core.

#include <benchmark/benchmark.h>

#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/policies.hpp"
#include "random_instance.hpp"
#include "reference_closed_loop.hpp"

namespace oas {
namespace {

constexpr std::size_t kSteps = 100'000;

void set_rate(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(kSteps));
}

void BM_ClosedLoop(benchmark::State& state) {
  ClosedLoop loop(random_instance(state), {}, 1);
  Trajectory log;
  for (auto _ : state) {
    log.clear();
    loop.advance(kSteps, log);
    benchmark::DoNotOptimize(log.observations.data());
  }
  set_rate(state);
}

void BM_ClosedLoopReference(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  reference::ClosedLoop loop(model, default_floor(model.num_actions()));
  std::vector<int> actions;
  std::vector<int> observations;
  std::vector<double> propensities;
  for (auto _ : state) {
    actions.clear();
    observations.clear();
    propensities.clear();
    loop.advance(kSteps, actions, observations, propensities);
    benchmark::DoNotOptimize(observations.data());
  }
  set_rate(state);
}

BENCHMARK(BM_ClosedLoop)->Args({3, 3, 3})->Args({10, 5, 20})->Args({7, 4, 9});
BENCHMARK(BM_ClosedLoopReference)->Args({3, 3, 3})->Args({10, 5, 20})->Args({7, 4, 9});

}  // namespace
}  // namespace oas
