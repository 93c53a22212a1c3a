// Counting pairs from memory, and solving for the transition model.

#include <benchmark/benchmark.h>

#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/estimation/spectral/spectral.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "random_instance.hpp"
#include "reference_oas.hpp"

namespace oas {
namespace {

constexpr std::size_t kRows = 1'000'000;

Trajectory log_of(const Pomdp& model, std::size_t rows) {
  ClosedLoop loop(model, {}, 1);
  Trajectory log;
  loop.advance(rows, log);
  return log;
}

void set_rate(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(kRows - 1));
}

void BM_CountPairs(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model, kRows);
  PairCounts counts(model.num_actions(), model.num_observations());
  for (auto _ : state) {
    counts.add_run(log.actions, log.observations, Pairing::overlapping);
    benchmark::DoNotOptimize(counts);
  }
  set_rate(state);
}

void fold(benchmark::State& state, const FoldOptions& options) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model, kRows);
  const LeftInverses inverses(model);
  for (auto _ : state) {
    PairFolder folder(inverses, model.timing(), options);
    folder.add(log.actions, log.observations, log.propensities);
    benchmark::DoNotOptimize(folder.finish());
  }
  set_rate(state);
}

void BM_FoldDense(benchmark::State& state) { fold(state, {}); }

void BM_FoldStreaming(benchmark::State& state) {
  FoldOptions options;
  options.max_dense_cells = 0;
  fold(state, options);
}

void BM_Solve(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model, 100'000);
  PairCounts counts(model.num_actions(), model.num_observations());
  counts.add_run(log.actions, log.observations, Pairing::disjoint);
  for (auto _ : state) benchmark::DoNotOptimize(estimate_oas(counts, model));
}

void BM_SolveReference(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model, 100'000);
  PairCounts counts(model.num_actions(), model.num_observations());
  counts.add_run(log.actions, log.observations, Pairing::disjoint);
  for (auto _ : state) benchmark::DoNotOptimize(reference::solve_block_matrix(counts, model));
}

void BM_CountTriples(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model, kRows);
  TripleFolder folder(model.num_actions(), model.num_observations());
  for (auto _ : state) {
    folder.clear();
    folder.add(log.actions, log.observations);
    benchmark::DoNotOptimize(folder);
  }
  set_rate(state);
}

// One decomposition per action: moments, whitening, tensor power method.
void BM_Spectral(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = log_of(model, 100'000);
  TripleFolder folder(model.num_actions(), model.num_observations());
  folder.add(log.actions, log.observations);
  for (auto _ : state) {
    Rng rng({1, 0, Role::estimation});
    benchmark::DoNotOptimize(estimate_spectral(folder, model, {}, rng));
  }
}

BENCHMARK(BM_CountPairs)->Args({3, 3, 3})->Args({10, 6, 15});
BENCHMARK(BM_FoldDense)->Args({3, 3, 3})->Args({10, 6, 15});
BENCHMARK(BM_FoldStreaming)->Args({3, 3, 3})->Args({10, 6, 15});
BENCHMARK(BM_Solve)
    ->Args({3, 3, 3})
    ->Args({3, 4, 5})
    ->Args({10, 6, 15})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_CountTriples)->Args({3, 3, 3})->Args({10, 6, 15});
BENCHMARK(BM_Spectral)
    ->Args({3, 3, 3})
    ->Args({3, 4, 5})
    ->Args({10, 6, 15})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SolveReference)->Args({3, 3, 3})->Args({3, 4, 5})->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace oas
