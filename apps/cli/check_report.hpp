#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "oas/jobs/data_needed.hpp"
#include "oas/jobs/empirical_error.hpp"
#include "oas/jobs/identifiability.hpp"
#include "oas/jobs/survey.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/theory/communication.hpp"
#include "oas/theory/ergodicity.hpp"

/// The sections of `oas check`, as text and as JSON. Text stays short for models with many states
/// and actions; JSON holds everything.
namespace oas::cli {

struct Report {
  std::string text;
  nlohmann::ordered_json json;
};

void report_head(const Pomdp& model, Report& report);
/// Without `sensors` they are too large for it.
void report_sensors(const Pomdp& model, const std::optional<SensorReport>& sensors, Report& report);
void report_dynamics(const Pomdp& model, const ErgodicityReport& ergodicity,
                     const CommunicationReport& communication, Report& report);

/// What of the transition model can be learned, by which estimator.
void report_identifiability(const Pomdp& model, const SurveyOptions& options,
                            const Identifiability& found, Report& report);

/// Whether the simulated logs show every row; `connected`: all states reach each other.
[[nodiscard]] bool can_be_learned(const Identifiability& found, bool connected);

/// What can be learned, in a sentence.
[[nodiscard]] std::string verdict(const SensorReport& sensors, bool learnable, bool connected);

/// Everything about a model with real-valued observations.
[[nodiscard]] Report report_continuous(const ContinuousPomdp& model);

/// How many steps each estimator needs.
struct DataReport {
  double target = 0.05;
  std::optional<double> bound;  ///< the paper's number of steps; NaN: not known
  std::vector<DataNeeded> needed;
  std::vector<EmpiricalError> trials;  ///< one for each of `needed`, or none
};
void report_data(const SurveyOptions& options, const DataReport& data, Report& report);

}  // namespace oas::cli
