#include "oas/jobs/log_sensors.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/sensors/uncertain_sensors.hpp"
#include "oas/logs/byte_source.hpp"

namespace oas {

namespace {

// Why sensors cannot be uncertain; empty: they can.
std::string hindrance(const Pomdp& model, const Estimation& how) {
  const EstimatorInfo& info = find_estimator(how.estimator);
  if (!info.climbs) {
    return fmt::format("estimator '{}' cannot allow for it, oas-ml and em can", info.name);
  }
  if (how.evidence.forgetting.active()) return "weights by age cannot be combined with it";
  if (how.rows.known_states) return "known states cannot be combined with it";
  if (how.bootstrap.active()) return "a bootstrap does not allow for it";
  if (!UncertainSensors::possible(model)) {
    return fmt::format("{} entries are more than the limit of {}",
                       model.observation_counts()->values().size(), UncertainSensors::kMostEntries);
  }
  return {};
}

SensorTreatment finite_treatment(const Pomdp& model, const Estimation& how) {
  SensorTreatment treatment;
  OAS_REQUIRE(how.sensors != SensorUse::uncertain || model.observation_counts(),
              "sensors cannot be uncertain: the model does not say how many labelled rows are "
              "behind them (observation_counts)");
  if (!model.observation_counts() || how.sensors == SensorUse::exact) return treatment;
  const std::string why_not = hindrance(model, how);
  treatment.uncertain = why_not.empty();
  if (treatment.uncertain) return treatment;
  OAS_REQUIRE(how.sensors == SensorUse::automatic, "sensors cannot be uncertain: {}", why_not);
  treatment.warning = fmt::format(
      "sensors calibrated from {:.10g} labelled rows are taken as exact, so that the error bars "
      "are "
      "too small: {}",
      model.observation_counts()->total(), why_not);
  return treatment;
}

SensorTreatment density_treatment(const ContinuousPomdp& model, std::span<const std::string> logs,
                                  const Estimation& how) {
  const DensityDraws& known = model.density_draws();
  SensorTreatment treatment;
  OAS_REQUIRE(
      how.sensors != SensorUse::uncertain || !known.draws.empty(),
      "sensors cannot be uncertain: the model does not say how well its densities are known "
      "(density_draws, which oas calibrate writes)");
  if (known.draws.empty() || how.sensors == SensorUse::exact) return treatment;
  const auto pipe = std::find_if(logs.begin(), logs.end(),
                                 [](const std::string& log) { return !reads_again(log); });
  treatment.uncertain = pipe == logs.end();
  if (treatment.uncertain) return treatment;
  const std::string why_not = fmt::format(
      "{}: a pipe can be read only once, and the log is read again under each of {} densities",
      *pipe, known.draws.size());
  OAS_REQUIRE(how.sensors == SensorUse::automatic, "sensors cannot be uncertain: {}", why_not);
  treatment.warning = fmt::format(
      "densities calibrated from {:.10g} labelled rows are taken as exact, so that the error bars "
      "are too small: {}",
      known.labelled_rows, why_not);
  return treatment;
}

}  // namespace

SensorTreatment sensor_treatment(const AnyModel& model, std::span<const std::string> logs,
                                 const Estimation& how) {
  const auto* const finite = std::get_if<Pomdp>(&model);
  return finite != nullptr ? finite_treatment(*finite, how)
                           : density_treatment(std::get<ContinuousPomdp>(model), logs, how);
}

}  // namespace oas
