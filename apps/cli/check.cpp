#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "check_report.hpp"
#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/theory/estimation_bounds.hpp"
#include "setting_options.hpp"

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
  std::optional<int> trials;
  std::optional<double> iota;

  template <class Fields>
  void visit(Fields& fields) {
    fields("target_error", target, {kAboveZero}, "target error: Frobenius norm over all actions");
    fields("trial", trials, {2, 1'000'000},
           "also simulate this many logs of the predicted length and estimate from them");
    fields("iota", iota, {0.0}, "smallest action probability (default: 1/(10 A))");
    survey.visit(fields);
  }
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
                   fmt::format("the policy {} does not use it", survey.policy.name));
  }
  return survey;
}

// What logs of the policy would tell; false when some row stays unknown.
bool report_learning(const CheckArguments& options, const Pomdp& model, const SensorReport& sensors,
                     const ErgodicityReport& ergodicity, const CommunicationReport& communication,
                     Report& report) {
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
  if (options.trials) {
    data.trials = try_predictions(model, survey, data.needed, *options.trials, parallelism);
  }
  report_data(survey, data, report);
  report.json["by_moments"] = found.by_moments();
  report.json["by_likelihood"] = found.by_likelihood();
  return can_be_learned(found, communication.strongly_connected());
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

Report report_finite(const CheckArguments& options, const Pomdp& model) {
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
      learnable = report_learning(options, model, *sensors, ergodicity, communication, report);
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
  return report;
}

void run_check(const CheckArguments& options) {
  const AnyModel any = load_any_model(options.model, options.common);
  const auto* continuous = std::get_if<ContinuousPomdp>(&any);
  const Report report = continuous != nullptr ? report_continuous(*continuous)
                                              : report_finite(options, std::get<Pomdp>(any));
  if (options.common.json) print_json(options.common, report.json);
  print(options.common, report.text);
}

}  // namespace

void add_check(CLI::App& app) {
  const auto options = std::make_shared<CheckArguments>();
  CLI::App* verb =
      add_verb(app, "check", "Describe a model: whether it can be learned, and from how much data",
               options->common, [options] { run_check(*options); });
  add_model_argument(*verb, "MODEL", options->model, "Model file or problem name", options->common);
  verb->add_option("--estimator", options->estimator,
                   "Estimator to predict for (default: oas, oas-overlap, oas-ml)");
  add_fields(*verb, *options);
}

}  // namespace oas::cli
