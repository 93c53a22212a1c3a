#include <fmt/format.h>

#include <cmath>

#include "check_report.hpp"
#include "cli.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

// A trial that speaks against a prediction makes it a lower limit.
bool is_refuted(const DataReport& data, std::size_t i) {
  return !data.trials.empty() && data.trials[i].refutes(data.target);
}

void report_estimator(const DataReport& data, std::size_t i, Table& table, std::string& remarks,
                      Json& estimators) {
  const DataNeeded& one = data.needed[i];
  const bool finite = one.steps && std::isfinite(*one.steps);
  const bool refuted = is_refuted(data, i);
  const std::string steps = finite ? big_number(std::ceil(*one.steps)) : "-";
  std::vector<std::string> cells = {one.estimator, refuted ? "> " + steps : steps};
  Json json = {{"estimator", one.estimator}, {"steps", finite ? Json(*one.steps) : Json(nullptr)}};
  if (!one.reason.empty()) {
    json["reason"] = one.reason;
    remarks += fmt::format("  {} cannot get there: {}\n", one.estimator, one.reason);
  }
  if (!data.trials.empty()) {
    const EmpiricalError& trial = data.trials[i];
    cells.push_back(trial.errors.empty()
                        ? "-"
                        : fmt::format("{:.4f} ± {:.4f}", trial.mean, trial.standard_error));
    if (!trial.errors.empty()) {
      json["trial_error"] = trial.mean;
      json["trial_error_standard_error"] = trial.standard_error;
      json["refuted"] = refuted;
    }
  }
  if (refuted) {
    remarks +=
        fmt::format("  {} needs more than predicted: simulated at that length it misses {}\n",
                    one.estimator, data.target);
  }
  if (!one.presumes.empty()) {
    json["presumes"] = one.presumes;
    if (data.trials.empty()) {
      remarks +=
          fmt::format("  {}: this presumes {} (--trial tries it)\n", one.estimator, one.presumes);
    }
  }
  table.add(std::move(cells));
  estimators.push_back(std::move(json));
}

}  // namespace

void report_data(const SurveyOptions& options, const DataReport& data, Report& report) {
  std::vector<std::string> header = {"estimator", "steps"};
  if (!data.trials.empty()) header.emplace_back("error simulated at that length");
  Table table(header);
  std::string remarks;
  Json estimators = Json::array();
  for (std::size_t i = 0; i < data.needed.size(); ++i) {
    report_estimator(data, i, table, remarks, estimators);
  }
  report.text += fmt::format(
      "\nhow many steps for an error of {} (mean Frobenius norm over all actions, policy {})?\n",
      data.target, options.policy.name);
  report.text += table.text() + remarks;
  report.text += fmt::format(
      "  the paper's bound asks for {} steps (`oas`, uniform policy, with probability 0.9)\n",
      !data.bound               ? "infinitely many"
      : std::isnan(*data.bound) ? "an unknown number of"
                                : big_number(*data.bound));
  report.json["data"] = {
      {"target_error", data.target},
      {"bound_steps", data.bound && std::isfinite(*data.bound) ? Json(*data.bound) : Json(nullptr)},
      {"policy", options.policy.name},
      {"estimators", std::move(estimators)}};
}

}  // namespace oas::cli
