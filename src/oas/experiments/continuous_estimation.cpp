#include "oas/experiments/continuous_estimation.hpp"

#include <mutex>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/experiments/detail/log_settings.hpp"
#include "oas/experiments/detail/soft_moments.hpp"
#include "oas/experiments/log_likelihood.hpp"

namespace oas {

namespace {

void warn_of_sample(const SoftSample& sample, TransitionEstimate& estimate) {
  if (sample.kept() < sample.rows()) {
    estimate.warnings.push_back(
        fmt::format("the mean features come from the first {} of {} rows: more did not fit into "
                    "the memory allowed",
                    sample.kept(), sample.rows()));
  }
}

TransitionEstimate estimate_soft(const ContinuousPomdp& model, std::span<const std::string> paths,
                                 const LogEstimationOptions& options, const RowsRead& progress) {
  const FoldOptions fold = detail::fold_options(model.chain(), options);
  detail::SoftMoments moments(model, fold, options.memory_limit);
  LogBlock block;
  for (const std::string& path : paths) {
    LogReader reader(path, model);
    detail::require_propensity(reader, fold);
    while (reader.read_block(block, kLogBlockRows)) {
      moments.add(block, block.rows.propensities);
      progress(static_cast<std::int64_t>(block.rows.size()));
    }
  }
  const Pomdp soft = moments.soft_model();
  const LeftInverses inverses(soft);
  const MomentSeries series = moments.finish(inverses);
  detail::check_positivity(series, fold, nullptr);
  TransitionEstimate estimate =
      estimate_oas(series, inverses, soft, detail::moment_settings(options));
  detail::check_positivity(series, fold, &estimate);
  warn_of_sample(moments.sample(), estimate);
  return estimate;
}

MomentSeries fold_cells(const std::string& path, const ContinuousPomdp& model, const Cells& cells,
                        const LeftInverses& inverses, const FoldOptions& fold,
                        const RowsRead& progress) {
  LogReader reader(path, model);
  OAS_REQUIRE(!reader.has_likelihood(),
              "{}: contains likelihoods, but cells need observations; use oas-soft or oas-ml",
              reader.name());
  detail::require_propensity(reader, fold);
  PairFolder folder(inverses, model.timing(), fold);
  LogBlock block;
  while (reader.read_block(block, kLogBlockRows)) {
    to_cells(block, cells);
    fold_block(block, block.rows.propensities, folder);
    progress(static_cast<std::int64_t>(block.rows.size()));
  }
  return folder.finish();
}

TransitionEstimate estimate_cells(const ContinuousPomdp& model, std::span<const std::string> paths,
                                  const LogEstimationOptions& options,
                                  const CellSearchOptions& search, Parallelism parallelism,
                                  const RowsRead& progress) {
  OAS_REQUIRE(model.has_sensors(),
              "estimator {} needs the densities of the observations; oas-soft and oas-ml work on "
              "likelihoods",
              options.estimator);
  const FoldOptions fold = detail::fold_options(model.chain(), options);
  const CellSearch found = find_cells(model.sensors(), search);
  const Pomdp finite = discretise(model, found.cells);
  const LeftInverses inverses(finite);
  std::vector<MomentSeries> parts(paths.size());
  parallel_for(paths.size(), parallelism, [&](std::size_t i) {
    parts[i] = fold_cells(paths[i], model, found.cells, inverses, fold, progress);
  });
  MomentSeries series;
  for (MomentSeries& part : parts) series.append(std::move(part));
  detail::check_positivity(series, fold, nullptr);
  TransitionEstimate estimate =
      estimate_oas(series, inverses, finite, detail::moment_settings(options));
  detail::check_positivity(series, fold, &estimate);
  return estimate;
}

TransitionEstimate estimate_vectors(const ContinuousPomdp& model,
                                    std::span<const std::string> paths,
                                    const LogEstimationOptions& options, Parallelism parallelism,
                                    const RowsRead& progress) {
  const bool refine = find_estimator(options.estimator).refine;
  const LikelihoodEstimatorOptions settings = detail::likelihood_settings(options);
  std::optional<detail::SoftMoments> moments;
  if (detail::SoftMoments::fits(model)) {
    moments.emplace(model, detail::fold_options(model.chain(), options), options.memory_limit);
  }
  const FoldBlock fold_rows = [&](const LogBlock& block, std::span<const double> propensities) {
    moments->add(block, propensities);
  };
  const LogLikelihood log(model, paths, options.memory_limit, moments ? fold_rows : FoldBlock{},
                          progress);
  // Without moments nothing is known of the sensors; one observation is what is surely too bad.
  const Pomdp soft = moments ? moments->soft_model() : model.chain();
  TransitionModel start = TransitionModel::uniform(model.num_states(), model.num_actions());
  if (refine && !has_blind_sensor(soft)) {
    const LeftInverses inverses(soft);
    const MomentSeries series = moments->finish(inverses);
    if (!series.batches.empty()) start = estimate_oas(series, inverses, soft).transition;
  }
  const std::vector<TransitionModel> starts =
      refine ? likelihood_starts(soft, start) : std::vector<TransitionModel>{start};
  return estimate_likelihood(log.rows(parallelism), starts, soft, settings);
}

}  // namespace

void to_cells(LogBlock& block, const Cells& cells) {
  const auto d = static_cast<std::size_t>(cells.dimension());
  const std::span<const double> readings(block.readings);
  for (std::size_t t = 0; t < block.rows.size(); ++t) {
    Observation& observation = block.rows.observations[t];
    if (observation != kMissing) observation = cells.cell(readings.subspan(t * d, d));
  }
}

TransitionEstimate estimate_from_logs(const ContinuousPomdp& model,
                                      std::span<const std::string> paths,
                                      const LogEstimationOptions& options,
                                      const CellSearchOptions& cells, Parallelism parallelism,
                                      const RowsRead& progress) {
  OAS_REQUIRE(!paths.empty(), "no log to estimate from");
  const EstimatorInfo& info = find_estimator(options.estimator);
  OAS_REQUIRE(options.error_bars == ErrorBars::asymptotic,
              "a bootstrap needs finite observations (oas discretise); take asymptotic error bars");
  detail::require_used(info, options);
  OAS_REQUIRE(options.sensors == SensorUse::automatic,
              "only sensors of finite observations are calibrated on labelled rows, and can be "
              "uncertain or exact");
  OAS_REQUIRE(!options.forgetting.active(),
              "weights by age need finite observations; oas discretise makes such");
  OAS_REQUIRE(info.kind == EstimatorKind::moments || info.kind == EstimatorKind::likelihood,
              "estimator {} needs finite observations: oas discretise makes a model and a log with "
              "such; oas-ml, oas-soft, oas-overlap and oas take real-valued ones",
              options.estimator);
  std::mutex progress_mutex;
  const RowsRead report = [&](std::int64_t rows) {
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(rows);
  };
  TransitionEstimate estimate;
  if (info.kind == EstimatorKind::likelihood) {
    estimate = estimate_vectors(model, paths, options, parallelism, report);
  } else if (info.soft) {
    estimate = estimate_soft(model, paths, options, report);
  } else {
    estimate = estimate_cells(model, paths, options, cells, parallelism, report);
  }
  warn_of_poor_rows(model.chain(), estimate);
  return estimate;
}

}  // namespace oas
