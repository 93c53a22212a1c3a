#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/policy_evaluation.hpp"

namespace oas::cli {

namespace {

struct Options {
  Common common;
  std::string model;
  std::string plan;
  std::string filter;
  int resolution = 0;
  SimulationOptions simulation;
};

// The chain needs a grid that fits; a plan of α-vectors has none of its own.
std::optional<ChainEvaluation> on_chain(const Options& options, const Pomdp& truth,
                                        const Plan& plan, const Pomdp& filter) {
  if (plan.resolution == 0 && options.resolution == 0) return std::nullopt;
  ChainOptions chain;
  chain.resolution = options.resolution;
  return evaluate_on_chain(truth, plan, filter, chain, options.common.parallelism());
}

void run(const Options& options) {
  const Pomdp truth = load_model(options.model, options.common);
  OAS_REQUIRE(truth.has_transition(), "{}: has no transition model to evaluate in", options.model);
  const Plan plan = read_plan(options.plan);
  const Pomdp filter =
      options.filter.empty() ? plan.model : load_model(options.filter, options.common);
  OAS_REQUIRE(filter.has_transition(), "{}: has no transition model to filter with",
              options.filter);
  const auto chain = on_chain(options, truth, plan, filter);
  const GainInterval simulated =
      evaluate_by_simulation(truth, plan, filter, options.simulation, options.common.parallelism());
  if (options.common.json) {
    nlohmann::ordered_json document = {{"model", options.model},
                                       {"plan", options.plan},
                                       {"simulated", simulated.mean},
                                       {"half_width", simulated.half_width},
                                       {"level", simulated.level},
                                       {"lower_limit", simulated.lower_limit},
                                       {"lag_correlation", simulated.lag_correlation},
                                       {"steps", simulated.steps},
                                       {"seed", simulated.seed}};
    if (chain) {
      document["chain"] = chain->gain;
      document["chain_status"] = to_string(chain->status);
      document["chain_resolution"] = chain->resolution;
    }
    print_json(document);
  }
  std::string text =
      fmt::format("{} in {}\n  simulated  {}\n", options.plan, options.model, simulated.brief());
  if (chain) {
    text += fmt::format("  chain      {:.6g} (belief grid of resolution {}, {})\n", chain->gain,
                        chain->resolution, chain->message);
  }
  print(options.common, text);
  if (simulated.lag_correlation > 0.3) {
    warn(options.common, fmt::format("successive batches are correlated ({:.2f}): the interval is "
                                     "too narrow; take more --steps",
                                     simulated.lag_correlation));
  }
}

}  // namespace

void add_evaluate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = add_verb(app, "evaluate", "The true gain of a plan in a model", options->common,
                            [options] { run(*options); });
  add_model_argument(*verb, "MODEL", options->model, "The true model: file or problem name",
                     options->common);
  verb->add_option("PLAN", options->plan, "Plan file (oas plan)")->required();
  verb->add_option("--filter", options->filter,
                   "Model with which beliefs are kept (default: the plan's own)");
  verb->add_option("--grid", options->resolution,
                   "Resolution of the chain's belief grid (0: the plan's)")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb->add_option("--steps", options->simulation.steps, "Simulated steps")->capture_default_str();
  verb->add_option("--level", options->simulation.level, "Confidence level")->capture_default_str();
  verb->add_option("--seed", options->simulation.seed, "Same seed, same bytes")
      ->capture_default_str();
}

}  // namespace oas::cli
