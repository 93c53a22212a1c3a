#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "oas/model/pomdp.hpp"
#include "oas/theory/communication.hpp"
#include "oas/theory/ergodicity.hpp"
#include "oas/theory/revealing.hpp"

/// The sections of `oas check`, as text and as JSON. Text stays short for models with many states
/// and actions; JSON holds everything.
namespace oas::cli {

struct Report {
  std::string text;
  nlohmann::ordered_json json;
};

void report_head(const Pomdp& model, Report& report);
void report_sensors(const Pomdp& model, const SensorReport& sensors, Report& report);
void report_dynamics(const Pomdp& model, const ErgodicityReport& ergodicity,
                     const CommunicationReport& communication, Report& report);

}  // namespace oas::cli
