// One pass over a run of a million rows in memory: forward, backward, expected counts; one thread.

#include <benchmark/benchmark.h>

#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "random_instance.hpp"
#include "reference_likelihood.hpp"

namespace oas {
namespace {

constexpr std::size_t kRows = 1'000'000;

Trajectory log_of(const Pomdp& model) {
  ClosedLoop loop(model, {}, 1);
  Trajectory log;
  loop.advance(kRows, log);
  return log;
}

void set_rate(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(kRows));
}

void pass(benchmark::State& state, const PassOptions& options) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model);
  TransitionLikelihood likelihood(model);
  likelihood.append(log.actions, log.observations);
  for (auto _ : state) {
    benchmark::DoNotOptimize(likelihood.pass(model.transition(), options, {1}));
  }
  set_rate(state);
}

void BM_LikelihoodPass(benchmark::State& state) { pass(state, {}); }

void BM_LikelihoodPassWithBatches(benchmark::State& state) {
  PassOptions options;
  options.batches = 512;
  pass(state, options);
}

void BM_LikelihoodPassReference(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model);
  for (auto _ : state) {
    benchmark::DoNotOptimize(reference::plain_pass(model, model.transition(), log));
  }
  set_rate(state);
}

BENCHMARK(BM_LikelihoodPass)
    ->Args({2, 3, 3})
    ->Args({3, 3, 3})
    ->Args({4, 3, 4})
    ->Args({5, 3, 8})
    ->Args({7, 4, 9})
    ->Args({10, 6, 15});
BENCHMARK(BM_LikelihoodPassWithBatches)->Args({3, 3, 3});
BENCHMARK(BM_LikelihoodPassReference)->Args({3, 3, 3})->Args({7, 4, 9})->Args({10, 6, 15});

}  // namespace
}  // namespace oas
