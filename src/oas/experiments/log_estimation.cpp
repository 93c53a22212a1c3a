#include "oas/experiments/log_estimation.hpp"

#include <mutex>

#include "oas/core/contracts.hpp"
#include "oas/experiments/log_bootstrap.hpp"
#include "oas/experiments/log_sensors.hpp"
#include "oas/io/log_files.hpp"
#include "oas/io/log_reader.hpp"

namespace oas {

namespace {

// Throws InvalidArgument when an option is wrong, or not one that the estimator looks at.
void require_used(const EstimatorInfo& info, const LogEstimationOptions& options) {
  OAS_REQUIRE(options.confidence > 0.0 && options.confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", options.confidence);
  OAS_REQUIRE(options.forgetting.active() || options.forgetting.age == Age::unsaid,
              "the age of rows matters only with a half-life or a window");
  OAS_REQUIRE(
      options.structure.empty() || info.climbs,
      "estimator '{}' cannot use a structure; only the likelihood estimators do: oas-ml, em",
      info.name);
  OAS_REQUIRE(options.prior == 0.0 || info.climbs,
              "estimator '{}' cannot use a prior of {} transitions per entry; only the likelihood "
              "estimators do: oas-ml, em",
              info.name, options.prior);
}

void require_finite(const EstimatorInfo& info, const Pomdp& model,
                    const LogEstimationOptions& options) {
  const double entries =
      static_cast<double>(model.num_actions()) * model.num_states() * model.num_states();
  OAS_REQUIRE(entries <= static_cast<double>(TransitionModel::kMaxTable),
              "{} states and {} actions make a transition model of {:.0f} entries, more than the "
              "limit of {}",
              model.num_states(), model.num_actions(), entries, TransitionModel::kMaxTable);
  require_used(info, options);
  options.forgetting.validate();
  const bool bootstrap = options.error_bars != ErrorBars::asymptotic;
  OAS_REQUIRE(!options.forgetting.active() || info.forgets,
              "estimator '{}' has no weights by age; moments and likelihood do", info.name);
  OAS_REQUIRE(!options.forgetting.active() || !bootstrap,
              "bootstraps do not support weights by age; use asymptotic error bars");
  OAS_REQUIRE(options.structure.empty() || !bootstrap,
              "bootstraps do not support a structure; use asymptotic error bars");
  OAS_REQUIRE(!bootstrap || info.bootstraps, "error bars '{}' are not available for estimator '{}'",
              to_string(options.error_bars), options.estimator);
}

void require_continuous(const EstimatorInfo& info, const LogEstimationOptions& options) {
  OAS_REQUIRE(options.error_bars == ErrorBars::asymptotic,
              "a bootstrap needs finite observations (oas discretise); take asymptotic error bars");
  require_used(info, options);
  OAS_REQUIRE(options.sensors == SensorUse::automatic,
              "only sensors of finite observations are calibrated on labelled rows, and can be "
              "uncertain or exact");
  OAS_REQUIRE(!options.forgetting.active(),
              "weights by age need finite observations; oas discretise makes such");
  OAS_REQUIRE(info.readings != Readings::cells_in_memory,
              "estimator {} needs finite observations: oas discretise makes a model and a log with "
              "such; oas-ml, oas-soft, oas-overlap and oas take real-valued ones",
              options.estimator);
}

EvidenceOptions evidence_options(const LogEstimationOptions& options, bool uncertain) {
  EvidenceOptions evidence;
  evidence.actions_ignore_observations = options.actions_ignore_observations;
  evidence.forgetting = options.forgetting;
  evidence.memory_limit = options.memory_limit;
  evidence.uncertain_sensors = uncertain;
  evidence.cells = options.cells;
  evidence.particles = options.particles;
  // What was always drawn for: a posterior by the user's seed, a decomposition by the same one.
  const bool posterior = find_estimator(options.estimator).errors == ErrorSource::posterior;
  if (posterior) evidence.stream = {options.seed, 0, Role::bootstrap};
  return evidence;
}

EstimateOptions estimate_options(const LogEstimationOptions& options, Parallelism parallelism,
                                 const RowsRead& progress) {
  EstimateOptions estimate;
  estimate.confidence = options.confidence;
  estimate.prior = options.prior;
  estimate.structure = options.structure;
  estimate.parallelism = parallelism;
  estimate.progress = progress;
  return estimate;
}

}  // namespace

TransitionEstimate estimate_from_logs(const RowModel& model, std::span<const std::string> paths,
                                      const LogEstimationOptions& options, Parallelism parallelism,
                                      const RowsRead& progress) {
  OAS_REQUIRE(!paths.empty(), "no log to estimate from");
  if (std::holds_alternative<Pomdp>(model) && log_brings_likelihoods(paths.front())) {
    const ContinuousPomdp without_sensors(std::get<Pomdp>(model));
    return estimate_from_logs(without_sensors, paths, options, parallelism, progress);
  }
  const EstimatorInfo& info = find_estimator(options.estimator);
  const auto* finite = std::get_if<Pomdp>(&model);
  SensorTreatment sensors;
  if (finite != nullptr) {
    require_finite(info, *finite, options);
    sensors = sensor_treatment(*finite, options);
  } else {
    require_continuous(info, options);
  }
  std::mutex progress_mutex;
  const RowsRead report = [&](std::int64_t rows) {
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(rows);
  };
  Evidence evidence =
      make_evidence(options.estimator, model, evidence_options(options, sensors.uncertain));
  const auto source = std::visit(
      [&](const auto& any) { return std::make_unique<LogFiles>(any, paths, report); }, model);
  evidence.read(*source, parallelism);
  const EstimateOptions asked = estimate_options(options, parallelism, report);
  TransitionEstimate estimate = evidence.estimate(asked);
  if (options.error_bars != ErrorBars::asymptotic) {
    bootstrap_errors(evidence, *finite, *source, options, asked, estimate);
  }
  evidence.check(asked, estimate);
  if (!sensors.warning.empty()) estimate.warnings.push_back(sensors.warning);
  warn_of_poor_rows(finite != nullptr ? *finite : std::get<ContinuousPomdp>(model).chain(),
                    estimate);
  return estimate;
}

}  // namespace oas
