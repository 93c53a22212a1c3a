#include "oas/experiments/log_estimation.hpp"

#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/counts/soft_pairs.hpp"
#include "oas/counts/weighted_pairs.hpp"
#include "oas/estimation/confidence_region.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/estimation/particle.hpp"
#include "oas/estimation/uncertain_sensors.hpp"
#include "oas/estimation/weighted_likelihood.hpp"
#include "oas/experiments/detail/log_fit.hpp"
#include "oas/experiments/detail/log_settings.hpp"
#include "oas/experiments/log_bootstrap.hpp"
#include "oas/experiments/log_likelihood.hpp"
#include "oas/experiments/log_sensors.hpp"
#include "oas/experiments/log_structure.hpp"
#include "oas/experiments/log_triples.hpp"
#include "oas/io/log_reader.hpp"

namespace oas {

namespace {

// Sums over the files in their order, with weights by age now that the end is known.
MomentSeries pooled(std::vector<MomentSeries> parts, const LogEstimationOptions& options) {
  MomentSeries series;
  for (MomentSeries& part : parts) series.append(std::move(part));
  series.forget(options.forgetting);
  return series;
}

void add_effective_rows(const LogEstimationOptions& options, const RunLengths& runs,
                        TransitionEstimate& estimate) {
  if (options.forgetting.active()) {
    estimate.effective_rows = options.forgetting.effective_rows(runs);
  }
}

MomentSeries fold_file(const std::string& path, const Pomdp& model, const LeftInverses& inverses,
                       const FoldOptions& options, const RowsRead& progress) {
  LogReader reader(path, model);
  detail::require_propensity(reader, options);
  PairFolder folder(inverses, model.timing(), options);
  LogBlock block;
  while (reader.read_block(block, kLogBlockRows)) {
    fold_block(block, block.rows.propensities, folder);
    if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
  }
  return folder.finish();
}

// The moments of all files, by these inverses and weights.
TransitionEstimate estimate_by_pairs(const Pomdp& model, const LeftInverses& inverses,
                                     const FoldOptions& fold, std::span<const std::string> paths,
                                     const LogEstimationOptions& options, Parallelism parallelism,
                                     const RowsRead& progress) {
  const OasOptions oas_options = detail::moment_settings(options);
  std::vector<MomentSeries> parts(paths.size());
  parallel_for(paths.size(), parallelism, [&](std::size_t i) {
    parts[i] = fold_file(paths[i], model, inverses, fold, progress);
  });
  const MomentSeries series = pooled(std::move(parts), options);
  detail::check_positivity(series, fold, nullptr);
  TransitionEstimate estimate = estimate_oas(series, inverses, model, oas_options);
  add_effective_rows(options, series.run_lengths, estimate);
  detail::check_positivity(series, fold, &estimate);
  if (options.error_bars != ErrorBars::asymptotic) {
    bootstrap_moments({model, inverses, fold}, series, paths, options, parallelism, estimate);
  }
  return estimate;
}

TransitionEstimate estimate_by_moments(const Pomdp& model, std::span<const std::string> paths,
                                       const LogEstimationOptions& options, Parallelism parallelism,
                                       const RowsRead& progress) {
  const FoldOptions fold = detail::fold_options(model, options);
  const bool soft = find_estimator(options.estimator).soft;
  return estimate_by_pairs(model, soft ? soft_inverses(model) : LeftInverses(model), fold, paths,
                           options, parallelism, progress);
}

// Files are read twice: for the weights, and for the moments.
TransitionEstimate estimate_by_weighted_moments(const Pomdp& model,
                                                std::span<const std::string> paths,
                                                const LogEstimationOptions& options,
                                                Parallelism parallelism, const RowsRead& progress) {
  for (const std::string& path : paths) {
    OAS_REQUIRE(path != "-" && !std::filesystem::is_fifo(path),
                "{}: estimator {} reads a log twice, which a pipe does not allow. Put it into a "
                "file, or take oas-overlap",
                input_name(path), options.estimator);
  }
  std::vector<ObservationMarginals> readings(paths.size());
  parallel_for(paths.size(), parallelism, [&](std::size_t i) {
    readings[i] = ObservationMarginals(model.num_actions(), model.num_observations());
    LogReader reader(paths[i], model);
    for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
      readings[i].add(block.rows.actions, block.rows.observations, block.rows.propensities);
    }
  });
  ObservationMarginals marginals;
  for (const ObservationMarginals& reading : readings) marginals.add(reading);
  WeightedPairs weights = weighted_pairs(model, marginals, !options.actions_ignore_observations);
  weights.fold.forgetting = options.forgetting;
  return estimate_by_pairs(model, weights.inverses, weights.fold, paths, options, parallelism,
                           progress);
}

// Moments for a start: weighted where the log has propensities, and good enough where it has none.
TransitionEstimate estimate_by_likelihood(const Pomdp& given, std::span<const std::string> paths,
                                          const LogEstimationOptions& options,
                                          Parallelism parallelism, const RowsRead& progress) {
  const EstimatorInfo& info = find_estimator(options.estimator);
  const LikelihoodEstimatorOptions settings = detail::likelihood_settings(options);
  const bool uncertain = sensor_treatment(given, options).uncertain;
  const Pomdp model = uncertain ? UncertainSensors::opened(given) : given;
  const bool moments = info.refine && !has_blind_sensor(model);
  std::optional<LeftInverses> inverses;
  std::optional<PairFolder> folder;
  if (moments) {
    inverses.emplace(model);
    folder.emplace(*inverses, model.timing(), detail::fold_options(model, options));
  }
  const LogLikelihood log(model, paths, options.memory_limit, moments ? &*folder : nullptr,
                          progress);
  TransitionModel start = TransitionModel::uniform(model.num_states(), model.num_actions());
  if (moments) {
    MomentSeries series = folder->finish();
    series.forget(options.forgetting);
    if (!series.batches.empty()) start = estimate_oas(series, *inverses, model).transition;
  }
  const std::vector<TransitionModel> starts =
      info.refine ? likelihood_starts(model, start) : std::vector<TransitionModel>{start};
  if (!options.structure.empty()) {
    require_possible(log, paths, model, options.structure, parallelism);
  }
  const LikelihoodRows rows =
      with_forgetting(log.rows(parallelism), options.forgetting, log.run_lengths());
  TransitionEstimate estimate = uncertain ? estimate_with_sensors(rows, starts, model, settings)
                                          : estimate_likelihood(rows, starts, model, settings);
  if (options.error_bars != ErrorBars::asymptotic) {
    bootstrap_likelihood(model, log, settings.climb, options, parallelism, estimate);
  }
  // Older rows need not fit, nor need any where a prior has its say.
  if (options.forgetting.active() || options.prior > 0.0) return estimate;
  detail::add_sensor_fit(log, model, settings, parallelism, estimate);
  return estimate;
}

// What only logs of finite observations can have, beside detail::require_used().
void require_usable(const EstimatorInfo& info, const LogEstimationOptions& options) {
  options.forgetting.validate();
  OAS_REQUIRE(!options.forgetting.active() ||
                  (info.kind != EstimatorKind::posterior && info.kind != EstimatorKind::spectral),
              "estimator '{}' has no weights by age; moments and likelihood do", info.name);
  OAS_REQUIRE(!options.forgetting.active() || options.error_bars == ErrorBars::asymptotic,
              "bootstraps do not support weights by age; use asymptotic error bars");
  OAS_REQUIRE(options.structure.empty() || options.error_bars == ErrorBars::asymptotic,
              "bootstraps do not support a structure; use asymptotic error bars");
  OAS_REQUIRE(options.error_bars == ErrorBars::asymptotic || info.kind == EstimatorKind::moments ||
                  info.kind == EstimatorKind::likelihood,
              "error bars '{}' are not available for estimator '{}'", to_string(options.error_bars),
              options.estimator);
}

TransitionEstimate estimate_by_particles(const Pomdp& model, std::span<const std::string> paths,
                                         const LogEstimationOptions& options,
                                         const RowsRead& progress) {
  ParticleEstimateOptions settings;
  settings.name = options.estimator;
  settings.confidence = options.confidence;
  settings.posterior = options.particles;
  ParticleEstimator estimator(model, settings, Rng({options.seed, 0, Role::bootstrap}));
  LogBlock block;
  for (const std::string& path : paths) {
    LogReader reader(path, model);
    estimator.start_run();
    while (reader.read_block(block, kLogBlockRows)) {
      const std::span<const Action> actions(block.rows.actions);
      const std::span<const Observation> observations(block.rows.observations);
      by_runs(
          block, [&] { estimator.start_run(); },
          [&](std::size_t first, std::size_t count) {
            estimator.add(actions.subspan(first, count), observations.subspan(first, count));
          });
      progress(static_cast<std::int64_t>(block.rows.size()));
    }
  }
  TransitionEstimate estimate = estimator.finish();
  add_bonferroni_regions(estimate.transition.values(), estimate);
  return estimate;
}

TransitionEstimate estimate_by_kind(const Pomdp& model, std::span<const std::string> paths,
                                    const LogEstimationOptions& options, Parallelism parallelism,
                                    const RowsRead& progress) {
  switch (find_estimator(options.estimator).kind) {
    case EstimatorKind::moments:
      return estimate_by_moments(model, paths, options, parallelism, progress);
    case EstimatorKind::weighted:
      return estimate_by_weighted_moments(model, paths, options, parallelism, progress);
    case EstimatorKind::likelihood:
      return estimate_by_likelihood(model, paths, options, parallelism, progress);
    case EstimatorKind::posterior:
      return estimate_by_particles(model, paths, options, progress);
    case EstimatorKind::spectral:
      return estimate_spectral_from_logs(model, paths, parallelism, progress);
  }
  return {};
}

}  // namespace

TransitionEstimate estimate_from_logs(const Pomdp& model, std::span<const std::string> paths,
                                      const LogEstimationOptions& options, Parallelism parallelism,
                                      const RowsRead& progress) {
  OAS_REQUIRE(!paths.empty(), "no log to estimate from");
  const EstimatorInfo& info = find_estimator(options.estimator);
  const double entries =
      static_cast<double>(model.num_actions()) * model.num_states() * model.num_states();
  OAS_REQUIRE(entries <= static_cast<double>(TransitionModel::kMaxTable),
              "{} states and {} actions make a transition model of {:.0f} entries, more than the "
              "limit of {}",
              model.num_states(), model.num_actions(), entries, TransitionModel::kMaxTable);
  detail::require_used(info, options);
  require_usable(info, options);
  std::mutex progress_mutex;
  const RowsRead report = [&](std::int64_t rows) {
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(rows);
  };
  const SensorTreatment sensors = sensor_treatment(model, options);
  TransitionEstimate estimate = estimate_by_kind(model, paths, options, parallelism, report);
  if (!sensors.warning.empty()) estimate.warnings.push_back(sensors.warning);
  warn_of_poor_rows(model, estimate);
  return estimate;
}

}  // namespace oas
