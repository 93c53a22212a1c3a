#include <benchmark/benchmark.h>

#include "oas/core/sampling.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/planner.hpp"
#include "reference_planning.hpp"

namespace oas {
namespace {

std::vector<double> rows(int count, int width, Rng& rng) {
  std::vector<double> values(static_cast<std::size_t>(count) * width);
  const std::vector<double> concentration(static_cast<std::size_t>(width), 1.0);
  for (std::size_t i = 0; i < values.size(); i += concentration.size()) {
    sample_dirichlet(concentration, std::span(values).subspan(i, concentration.size()), rng);
  }
  return values;
}

// n states, actions and observations.
Pomdp cube(int n) {
  Rng rng({17, 0, Role::problem});
  PomdpParts parts;
  parts.states = Labels(n, "state");
  parts.actions = Labels(n, "action");
  parts.observations = Labels(n, "observation");
  parts.transition = TransitionModel(n, n, rows(n * n, n, rng));
  parts.sensors = ObservationModel(n, n, n, rows(n * n, n, rng));
  std::vector<double> reward(static_cast<std::size_t>(n));
  for (double& r : reward) r = rng.uniform();
  parts.reward = Reward::by_observation(reward);
  return Pomdp(std::move(parts));
}

// A hundredth of each row moved: the next estimate of a learner.
Pomdp changed(const Pomdp& model) {
  const auto n = static_cast<std::size_t>(model.num_states());
  std::vector<double> values(model.transition().values().begin(),
                             model.transition().values().end());
  for (std::size_t i = 0; i < values.size(); i += n) {
    const double moved = 0.01 * values[i];
    values[i] -= moved;
    values[i + 1] += moved;
  }
  return model.with_transition(
      TransitionModel(model.num_states(), model.num_actions(), std::move(values)));
}

RviOptions agent_options() {
  RviOptions options;
  options.iota = 1.0 / 30.0;
  options.span_tolerance = 5e-3;
  return options;
}

void cold_reference(benchmark::State& state) {
  const Pomdp model = cube(3);
  for (auto _ : state) {
    bench::ReferenceGridPlanner planner(model, 50);
    benchmark::DoNotOptimize(planner.solve(1.0 / 30.0, 5e-3));
  }
}
BENCHMARK(cold_reference)->Unit(benchmark::kMillisecond);

void cold_solve(benchmark::State& state) {
  const Pomdp model = cube(3);
  for (auto _ : state) {
    GridSolver solver(BeliefGrid(3, 50), {1});
    benchmark::DoNotOptimize(solver.solve(model, agent_options()).largest_increment);
  }
}
BENCHMARK(cold_solve)->Unit(benchmark::kMillisecond);

void warm_solve(benchmark::State& state) {
  const Pomdp model = cube(3);
  const Pomdp other = changed(model);
  GridSolver solver(BeliefGrid(3, 50), {1});
  solver.solve(model, agent_options());
  bool flip = false;
  for (auto _ : state) {
    benchmark::DoNotOptimize(solver.solve(flip ? model : other, agent_options()).residual);
    flip = !flip;
  }
}
BENCHMARK(warm_solve)->Unit(benchmark::kMillisecond);

// 10,626 points, compiled and solved to 1e-6; the argument is the number of threads.
void five_states(benchmark::State& state) {
  const Pomdp model = cube(5);
  const Parallelism threads{static_cast<int>(state.range(0))};
  for (auto _ : state) {
    GridSolver solver(BeliefGrid(5, 20), threads);
    benchmark::DoNotOptimize(solver.solve(model).largest_increment);
  }
}
BENCHMARK(five_states)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void extended(benchmark::State& state) {
  const Pomdp model = cube(3);
  EviOptions options;
  options.rvi = agent_options();
  options.max_members = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(extended_value_iteration(ConfidenceSet::uniform(model, 0.1),
                                                      BeliefGrid(3, 50), options, {1})
                                 .gain_bound);
  }
}
BENCHMARK(extended)->Unit(benchmark::kMillisecond);

void look_ahead(benchmark::State& state) {
  const Pomdp model = cube(3);
  GridSolver solver(BeliefGrid(3, 50), {1});
  LookAhead ahead(model, solver.grid(), solver.solve(model).bias);
  const std::vector<double> belief = {0.2, 0.5, 0.3};
  for (auto _ : state) benchmark::DoNotOptimize(ahead.greedy(belief));
}
BENCHMARK(look_ahead);

void interpolate(benchmark::State& state) {
  const BeliefGrid grid(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  Rng rng({1, 0, Role::problem});
  const std::vector<double> belief = rows(1, grid.num_states(), rng);
  std::uint32_t indices[kMaxGridStates];
  double weights[kMaxGridStates];
  for (auto _ : state) benchmark::DoNotOptimize(grid.interpolate(belief, indices, weights));
}
BENCHMARK(interpolate)->Args({3, 50})->Args({5, 20})->Args({10, 8});

}  // namespace
}  // namespace oas
