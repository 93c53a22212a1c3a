// A row of a log for a hundred particles, against a hundred plain filters; and posterior sampling
// in the loop.

#include <benchmark/benchmark.h>

#include "oas/estimation/particles/finite_posterior.hpp"
#include "oas/estimation/particles/particle_posterior.hpp"
#include "oas/learning/psrl.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/environment.hpp"
#include "random_instance.hpp"

namespace oas {
namespace {

constexpr int kParticles = 100;

Trajectory rows_of(const Pomdp& model) {
  ClosedLoop loop(model, {}, 1);
  Trajectory log;
  loop.advance(1 << 14, log);
  return log;
}

// Filtering and weighing alone: no resampling.
void BM_ParticleRow(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = rows_of(model);
  ParticleOptions options;
  options.particles = kParticles;
  options.ess_threshold = 0.0;
  options.move = ParticleMove::none;
  Rng rng({1, 0, Role::test});
  ParticlePosterior posterior(model, options, rng);
  std::size_t t = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(posterior.update(log.actions[t], log.observations[t], rng));
    t = (t + 1) % log.size();
  }
}

void BM_ParticleRowReference(benchmark::State& state) {
  const Pomdp model = random_instance(state);
  const Trajectory log = rows_of(model);
  Rng rng({1, 0, Role::test});
  std::vector<TransitionModel> candidates;
  for (int i = 0; i < kParticles; ++i) {
    candidates.push_back(random_transition(model.num_states(), model.num_actions(), 0.0, rng));
  }
  FinitePosterior posterior(model, candidates);
  std::size_t t = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(posterior.update(log.actions[t], log.observations[t]));
    t = (t + 1) % log.size();
  }
}

// A whole run: particles, their moves, and the plans of all episodes (m = 50: 1326 beliefs).
void BM_Psrl(benchmark::State& state) {
  RandomPomdpOptions instance;
  instance.min_alpha = 0.15;
  Rng problem({1, 0, Role::problem});
  const Pomdp model = random_pomdp(instance, problem).model;
  for (auto _ : state) {
    PsrlOptions options;
    options.acting.resolution = 50;
    Psrl agent(model.without_transition(), options);
    Environment environment(model, Rng({1, 0, Role::environment}));
    Rng rng({1, 0, Role::agent});
    for (std::int64_t t = 0; t < state.range(0); ++t) {
      agent.observe(environment.step(agent.act(rng).action).observation);
    }
    state.counters["episodes"] = static_cast<double>(agent.episodes().size());
  }
}

BENCHMARK(BM_ParticleRow)->Args({3, 3, 3})->Args({5, 3, 5})->Args({10, 6, 15});
BENCHMARK(BM_ParticleRowReference)->Args({3, 3, 3})->Args({5, 3, 5})->Args({10, 6, 15});
BENCHMARK(BM_Psrl)->Arg(50'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oas
