#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "check_report.hpp"
#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/sensors/cell_search.hpp"
#include "oas/sensors/soft_features.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/theory/estimation_bounds.hpp"
#include "setting_options.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

// A O S min(O,S). Beyond, singular values of the sensors take more than about 5 s.
constexpr double kMostSensorWork = 3e10;
// Beyond, simulating takes more memory than a look at a model should.
constexpr double kMostEntries = 1e6;
// Numbers of all sensors. Beyond, comparing all pairs of states takes longer than 5 s.
constexpr double kMostSensorEntries = 5e6;

struct CheckArguments {
  Common common;
  std::string model;
  double target = 0.05;
  std::string estimator;  // empty: three of them
  SurveyOptions survey;
  int trials = 0;
  std::optional<double> iota;
};

SurveyOptions survey_options(const CheckArguments& options, const Pomdp& model) {
  SurveyOptions survey = options.survey;
  // A model without reward gives a greedy policy nothing to be greedy about.
  if (model.reward().kind() == Reward::Kind::none) survey.policy.name = "uniform";
  if (find_policy(survey.policy.name).reacts) {
    survey.policy.min_action_probability =
        options.iota.value_or(default_floor(model.num_actions()));
  } else {
    refuse_options(options.common, {"--iota"},
                   fmt::format("the policy {} does not look at it", survey.policy.name));
  }
  return survey;
}

// What logs of the policy would tell; false when some row stays unknown.
bool report_learning(const CheckArguments& options, const Pomdp& model, const SensorReport& sensors,
                     const ErgodicityReport& ergodicity, Report& report) {
  const Parallelism parallelism = options.common.parallelism();
  const SurveyOptions survey = survey_options(options, model);
  const std::vector<Trajectory> logs = simulate_logs(model, survey, parallelism);
  const Identifiability found = identify(model, survey, logs, parallelism);
  report_identifiability(model, survey, found, report);
  DataReport data;
  data.target = options.target;
  data.bound = steps_by_bound(sensors, ergodicity, options.target);
  const std::vector<std::string> names =
      options.estimator.empty() ? std::vector<std::string>{"oas", "oas-overlap", "oas-ml"}
                                : std::vector<std::string>{options.estimator};
  data.needed = data_needed(model, options.target, names, survey, logs, found, parallelism);
  if (options.trials > 0) {
    data.trials = try_predictions(model, survey, data.needed, options.trials, parallelism);
  }
  report_data(survey, data, report);
  report.json["by_moments"] = found.by_moments();
  report.json["by_likelihood"] = found.by_likelihood();
  return found.by_moments() || found.by_likelihood();
}

std::optional<SensorReport> analyse_unless_large(const ObservationModel& sensors) {
  const double work = 1.0 * sensors.num_actions() * sensors.num_observations() *
                      sensors.num_states() *
                      std::min(sensors.num_observations(), sensors.num_states());
  if (work > kMostSensorWork) return std::nullopt;
  return analyse_sensors(sensors);
}

bool small_enough_to_simulate(const Pomdp& model) {
  const double rows = 1.0 * model.num_actions() * model.num_states();
  return rows * model.num_states() <= kMostEntries &&
         rows * model.num_observations() <= kMostSensorEntries && !model.transition().is_listed();
}

std::string verdict(const SensorReport& sensors, bool learnable, bool connected) {
  if (sensors.num_states == 1) return "one state: there is nothing to learn";
  if (learnable && sensors.revealing()) {
    return "every row of the transition model can be learned from logs";
  }
  if (learnable) {
    return "pairs of observations cannot identify the transition model, the likelihood of whole "
           "logs can (oas-ml)";
  }
  if (!connected && sensors.revealing()) {
    return "rows of states that are left for good cannot be learned from one long run; use many "
           "runs from the start";
  }
  return "pairs of observations cannot identify the transition model";
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

void run_continuous(const CheckArguments& options, const ContinuousPomdp& model) {
  Report report;
  report.text = model.brief() + "\n";
  bool learnable = model.has_sensors() && report_densities(model, report);
  if (!model.has_sensors()) report.text += "\nno densities: logs must contain likelihoods\n";
  if (model.chain().has_transition()) {
    const CommunicationReport communication =
        analyse_communication(model.chain().transition(), model.chain().start());
    report_dynamics(model.chain(), analyse_ergodicity(model.chain().transition()), communication,
                    report);
    learnable = learnable && communication.strongly_connected();
    report.text +=
        "\nreal-valued observations: no logs are simulated to see which rows they "
        "determine\n";
  }
  if (model.has_sensors()) {
    report.json["learnable"] = learnable;
    report.text += learnable ? "\nverdict: every row of the transition model can be learned\n"
                             : "\nverdict: not every row can be learned from pairs of observations "
                               "of one long run\n";
  }
  if (options.common.json) print_json(options.common, report.json);
  print(options.common, report.text);
}

void run_check(const CheckArguments& options) {
  OAS_REQUIRE(options.target > 0.0 && std::isfinite(options.target),
              "--target-error is {}; it must be positive and finite", options.target);
  const AnyModel any = load_any_model(options.model, options.common);
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&any)) {
    run_continuous(options, *continuous);
    return;
  }
  const auto& model = std::get<Pomdp>(any);
  Report report;
  report_head(model, report);
  const std::optional<SensorReport> sensors = analyse_unless_large(model.sensors());
  report_sensors(model, sensors, report);
  bool learnable = sensors && sensors->revealing();
  bool connected = true;
  if (model.has_transition()) {
    const CommunicationReport communication =
        analyse_communication(model.transition(), model.start());
    const ErgodicityReport ergodicity = analyse_ergodicity(model.transition());
    report_dynamics(model, ergodicity, communication, report);
    connected = communication.strongly_connected();
    if (sensors && small_enough_to_simulate(model)) {
      learnable = report_learning(options, model, *sensors, ergodicity, report);
    } else {
      learnable = learnable && connected;
      report.text += "\ntoo large to simulate which rows logs determine\n";
    }
  } else {
    report.text += "\nno transition model: only the sensors were judged\n";
  }
  report.json["learnable"] = sensors ? nlohmann::ordered_json(learnable) : nullptr;
  report.text += fmt::format("\nverdict: {}\n", sensors ? verdict(*sensors, learnable, connected)
                                                        : "too large to say what can be learned");
  if (options.common.json) print_json(options.common, report.json);
  print(options.common, report.text);
}

}  // namespace

void add_check(CLI::App& app) {
  const auto options = std::make_shared<CheckArguments>();
  CLI::App* verb =
      add_verb(app, "check", "Describe a model: can it be learned, and from how much data",
               options->common, [options] { run_check(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name", options->common);
  verb->add_option("--target-error", options->target,
                   "Target error: Frobenius norm over all actions")
      ->capture_default_str();
  verb->add_option("--estimator", options->estimator,
                   "Estimator to predict for (default: oas, oas-overlap, oas-ml)");
  add_whole_number(*verb, "--trial", options->trials, {2, 1'000'000},
                   "Also simulate this many logs of the predicted length and estimate from them");
  verb->add_option("--iota", options->iota, "Smallest action probability (default: 1/(10 A))");
  add_fields(*verb, options->survey);
}

}  // namespace oas::cli
