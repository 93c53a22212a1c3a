#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "check_report.hpp"
#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/experiments/empirical_error.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/theory/cell_search.hpp"
#include "oas/theory/estimation_bounds.hpp"
#include "oas/theory/soft_features.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  Common common;
  std::string model;
  double target = 0.05;
  EmpiricalErrorOptions trial;
  std::optional<double> iota;
};

// The lemma's number of steps for the uniform policy, whose stationary quantities are known
// exactly.
std::optional<double> steps_by_bound(const Options& options, const Pomdp& model,
                                     const SensorReport& sensors,
                                     const ErgodicityReport& ergodicity) {
  if (!(ergodicity.min_stationary > 0.0) || !(ergodicity.state_action_coefficient < 1.0)) {
    return std::nullopt;
  }
  StationaryRadiusInputs inputs;
  inputs.num_states = model.num_states();
  inputs.num_actions = model.num_actions();
  inputs.alpha = sensors.alpha;
  inputs.min_state_probability = ergodicity.min_stationary;
  inputs.min_action_probability = 1.0 / model.num_actions();
  inputs.contraction = ergodicity.state_action_coefficient;
  return steps_for_stationary_radius(inputs, options.target);
}

EmpiricalErrorOptions trial_options(const Options& options, const Pomdp& model) {
  EmpiricalErrorOptions trial = options.trial;
  // A model without reward gives a greedy policy nothing to be greedy about.
  if (model.reward().kind() == Reward::Kind::none) trial.policy.name = "uniform";
  if (trial.policy.name == "belief" || trial.policy.name == "memoryless") {
    trial.policy.min_action_probability = options.iota.value_or(default_floor(model.num_actions()));
  }
  return trial;
}

void report_data(const Options& options, const Pomdp& model, const SensorReport& sensors,
                 const ErgodicityReport& ergodicity, Report& report) {
  const auto bound = steps_by_bound(options, model, sensors, ergodicity);
  const EmpiricalErrorOptions trial = trial_options(options, model);
  const EmpiricalError error = empirical_error(model, trial, options.common.parallelism());
  const double needed = error.steps_for(options.target, trial.steps);
  report.text += fmt::format(
      "\nhow many steps for an error of {} (Frobenius norm over all actions)?\n"
      "  the paper's bound asks for {} steps (uniform policy, with probability 0.9)\n"
      "  simulated on this model, {} steps gave {:.3f} ± {:.3f} ({}, policy {}, {} runs);\n"
      "  at the 1/√n rate {} steps give {}\n",
      options.target, bound ? big_number(*bound) : "infinitely many",
      big_number(static_cast<double>(trial.steps)), error.mean, error.standard_error,
      trial.estimator, trial.policy.name, trial.replications, big_number(std::ceil(needed)),
      options.target);
  report.json["data"] = {{"target_error", options.target},
                         {"bound_steps", bound ? Json(*bound) : Json(nullptr)},
                         {"simulated_steps", trial.steps},
                         {"simulated_error", error.mean},
                         {"simulated_error_standard_error", error.standard_error},
                         {"predicted_steps", needed}};
}

// What soft features and cells make of the densities.
bool report_densities(const ContinuousPomdp& model, Report& report) {
  const SensorReport soft = analyse_sensors(soft_sensors(model.sensors()));
  const CellSearchOptions search;
  const CellSearch found = find_cells(model.sensors(), search);
  const SensorReport cells = analyse_sensors(cell_sensors(model.sensors(), found.cells));
  Table table({"action", "soft features", fmt::format("{} cells", found.cells.num_cells())});
  for (int a = 0; a < model.num_actions(); ++a) {
    const auto i = static_cast<std::size_t>(a);
    table.add({model.chain().actions()[a], fmt::format("{:.4f}", soft.actions[i].alpha),
               fmt::format("{:.4f}", cells.actions[i].alpha)});
    report.json["sensors"].push_back({{"action", model.chain().actions()[a]},
                                      {"soft_alpha", soft.actions[i].alpha},
                                      {"cells_alpha", cells.actions[i].alpha}});
  }
  report.json["alpha"] = cells.alpha;
  report.json["soft_alpha"] = soft.alpha;
  report.json["cells"] = cells_to_json(found.cells);
  report.text += "\nsensors: smallest singular values\n" + table.text();
  report.text +=
      fmt::format("  alpha {:.4f} with {} cells: the least revealing action is {}\n", cells.alpha,
                  found.cells.num_cells(), model.chain().actions()[cells.weakest]);
  return soft.revealing();
}

void run_continuous(const Options& options, const ContinuousPomdp& model) {
  Report report;
  report.text = model.brief() + "\n";
  bool learnable = model.has_sensors() && report_densities(model, report);
  if (!model.has_sensors()) report.text += "\nno densities: logs must bring likelihoods\n";
  if (model.chain().has_transition()) {
    const CommunicationReport communication =
        analyse_communication(model.chain().transition(), model.chain().start());
    report_dynamics(model.chain(), analyse_ergodicity(model.chain().transition()), communication,
                    report);
    learnable = learnable && communication.strongly_connected();
  }
  if (model.has_sensors()) {
    report.json["learnable"] = learnable;
    report.text += learnable ? "\nverdict: every row of the transition model can be learned\n"
                             : "\nverdict: not every row can be learned from pairs of observations "
                               "of one long run\n";
  }
  if (options.common.json) print_json(report.json);
  print(options.common, report.text);
}

void run(const Options& options) {
  const AnyModel any = load_any_model(options.model, options.common);
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&any)) {
    run_continuous(options, *continuous);
    return;
  }
  const Pomdp& model = std::get<Pomdp>(any);
  Report report;
  report_head(model, report);
  const SensorReport sensors = analyse_sensors(model.sensors());
  report_sensors(model, sensors, report);
  bool learnable = sensors.revealing();
  if (model.has_transition()) {
    const CommunicationReport communication =
        analyse_communication(model.transition(), model.start());
    const ErgodicityReport ergodicity = analyse_ergodicity(model.transition());
    report_dynamics(model, ergodicity, communication, report);
    learnable = learnable && communication.strongly_connected();
    if (learnable) report_data(options, model, sensors, ergodicity, report);
  } else {
    report.text += "\nno transition model: only the sensors were judged\n";
  }
  report.json["learnable"] = learnable;
  report.text +=
      learnable ? "\nverdict: every row of the transition model can be learned from logs\n"
      : sensors.revealing()
          ? "\nverdict: rows of states that are left for good cannot be learned from one "
            "long run; use many runs from the start\n"
          : "\nverdict: pairs of observations cannot identify the transition model\n";
  if (options.common.json) print_json(report.json);
  print(options.common, report.text);
}

}  // namespace

void add_check(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      add_verb(app, "check", "What is this model, can it be learned, with how much data",
               options->common, [options] { run(*options); });
  EmpiricalErrorOptions& trial = options->trial;
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name", options->common);
  verb->add_option("--target-error", options->target,
                   "Error wanted, Frobenius norm over all actions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--estimator", trial.estimator, "Estimator of the trial")->capture_default_str();
  verb->add_option("--policy", trial.policy.name, "Policy of the trial")->capture_default_str();
  verb->add_option("--iota", options->iota, "Smallest action probability (default: 1/(10 A))");
  verb->add_option("--steps", trial.steps, "Steps of each run of the trial")->capture_default_str();
  verb->add_option("--runs", trial.replications, "Runs of the trial")->capture_default_str();
  verb->add_option("--seed", trial.seed, "Same seed, same trial")->capture_default_str();
}

}  // namespace oas::cli
