// Closed loop: act from the belief, observe, move, filter, append to a log in memory. One core.

#include <benchmark/benchmark.h>

#include "oas/belief/filter.hpp"
#include "oas/simulation/batch_environment.hpp"
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

constexpr std::size_t kCopies = 4096;

std::vector<Action> any_actions(const Pomdp& model) {
  Rng rng({1, 0, Role::agent});
  std::vector<Action> actions(kCopies);
  for (Action& action : actions) {
    action = Action{rng.below(static_cast<std::uint32_t>(model.num_actions()))};
  }
  return actions;
}

void set_copies_rate(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(kCopies));
}

// Many copies at once; the fourth argument says whether beliefs are kept.
void BM_BatchEnvironment(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  BatchOptions options;
  options.copies = kCopies;
  options.track_beliefs = state.range(3) != 0;
  BatchEnvironment batch(model, options);
  const std::vector<Action> actions = any_actions(model);
  for (auto _ : state) {
    batch.step(actions);
    benchmark::DoNotOptimize(batch.rewards().data());
  }
  set_copies_rate(state);
}

// The same copies, each an Environment (and a filter) of its own.
void BM_BatchEnvironmentReference(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const bool track = state.range(3) != 0;
  std::vector<Environment> copies;
  std::vector<BeliefFilter> filters;
  for (std::uint32_t k = 0; k < kCopies; ++k) {
    copies.emplace_back(model, Rng({1, k, Role::environment}));
    if (track) filters.emplace_back(model);
  }
  const std::vector<Action> actions = any_actions(model);
  double sum = 0.0;
  for (auto _ : state) {
    for (std::size_t k = 0; k < kCopies; ++k) {
      const Environment::Outcome outcome = copies[k].step(actions[k]);
      sum += outcome.reward;
      if (track) filters[k].update(actions[k], outcome.observation);
    }
  }
  benchmark::DoNotOptimize(sum);
  set_copies_rate(state);
}

BENCHMARK(BM_BatchEnvironment)->Args({3, 3, 3, 0})->Args({3, 3, 3, 1})->Args({10, 5, 20, 1});
BENCHMARK(BM_BatchEnvironmentReference)
    ->Args({3, 3, 3, 0})
    ->Args({3, 3, 3, 1})
    ->Args({10, 5, 20, 1});
BENCHMARK(BM_ClosedLoop)->Args({3, 3, 3})->Args({10, 5, 20})->Args({7, 4, 9});
BENCHMARK(BM_ClosedLoopReference)->Args({3, 3, 3})->Args({10, 5, 20})->Args({7, 4, 9});

}  // namespace
}  // namespace oas
