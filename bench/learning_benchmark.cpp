// What a step of an agent costs, and what a whole run costs: S = A = O = 3, 1326 beliefs.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "oas/learning/agents.hpp"
#include "oas/simulation/environment.hpp"
#include "random_instance.hpp"

namespace {

constexpr int kSteps = 200'000;

// A run from its first step, plans included. Real learning needs more steps: see
// docs/reference/agents.md.
void run_agent(benchmark::State& state, const std::string& name) {
  const oas::Pomdp model = oas::random_instance(state);
  const bool planner = name != "uniform" && name != "sm-ucrl";
  const std::vector<oas::Setting> settings =
      planner ? std::vector<oas::Setting>{{"resolution", "50"}} : std::vector<oas::Setting>{};
  for (auto _ : state) {
    oas::AnyAgent agent = oas::make_agent(name, model, settings);
    oas::Environment environment(model, oas::Rng({1, 0, oas::Role::environment}));
    oas::Rng rng({1, 0, oas::Role::agent});
    for (int t = 0; t < kSteps; ++t) {
      agent.observe(environment.step(agent.act(rng).action).observation);
    }
    benchmark::DoNotOptimize(agent.episodes().size());
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}

BENCHMARK_CAPTURE(run_agent, uniform, std::string("uniform"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, oracle, std::string("oracle"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, oas_ucrl, std::string("oas-ucrl"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, oas_ucrl_pooled, std::string("oas-ucrl-pooled"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, oas_ucrl_ml, std::string("oas-ucrl-ml"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, psrl, std::string("psrl"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, seeu, std::string("seeu"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_agent, sm_ucrl, std::string("sm-ucrl"))
    ->Args({3, 3, 3})
    ->Unit(benchmark::kMillisecond);

}  // namespace
