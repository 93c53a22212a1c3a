#include "oas/experiments/log_estimation.hpp"

#include <mutex>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/io/log_reader.hpp"

namespace oas {

namespace {

constexpr std::size_t kBlockRows = 1 << 16;

constexpr const char* kWhyPropensities =
    "in `after` timing the action of a row is chosen after the observation of the row before, so "
    "pairs must be weighted by 1/propensity, the probability of the chosen action given the "
    "history";
constexpr const char* kWayOut =
    "log propensities of a policy that gives every action a positive probability, or, if actions "
    "were chosen without looking at observations, say --actions-ignore-observations";

FoldOptions fold_options(const Pomdp& model, const LogEstimationOptions& options) {
  FoldOptions fold;
  fold.pairing = find_estimator(options.estimator).pairing;
  fold.inverse_propensity = model.timing() == Timing::after && model.num_actions() > 1 &&
                            !options.actions_ignore_observations;
  return fold;
}

MomentSeries fold_file(const std::string& path, const Pomdp& model, const LeftInverses& inverses,
                       const FoldOptions& options, const RowsRead& progress) {
  LogReader reader(path, model);
  OAS_REQUIRE(!options.inverse_propensity || reader.has_propensity(),
              "{}: has no column propensity: {}. Either {}", path, kWhyPropensities, kWayOut);
  PairFolder folder(inverses, model.timing(), options);
  LogBlock block;
  while (reader.read_block(block, kBlockRows)) {
    const Trajectory& rows = block.rows;
    const std::span<const Action> actions(rows.actions);
    const std::span<const Observation> observations(rows.observations);
    const std::span<const double> propensities(rows.propensities);
    std::size_t start = 0;
    const auto add_until = [&](std::size_t end) {
      const std::size_t count = end - start;
      if (count == 0) return;
      folder.add(actions.subspan(start, count), observations.subspan(start, count),
                 propensities.empty() ? propensities : propensities.subspan(start, count));
      start = end;
    };
    for (const std::size_t run_start : block.run_starts) {
      add_until(run_start);
      folder.start_run();
    }
    add_until(rows.size());
    if (progress) progress(static_cast<std::int64_t>(rows.size()));
  }
  return folder.finish();
}

// Propensity 1 in a row means that no other action was possible there: the weights cannot undo
// that.
void check_positivity(const MomentSeries& series, const FoldOptions& options,
                      TransitionEstimate* estimate) {
  if (!options.inverse_propensity || series.certain_actions == 0) return;
  OAS_REQUIRE(series.certain_actions < series.rows,
              "all {} propensities are 1, so the weights 1/propensity say nothing: {}. A policy "
              "that never explores cannot be weighted; {}",
              series.rows, kWhyPropensities, kWayOut);
  if (estimate != nullptr) {
    estimate->warnings.push_back(fmt::format(
        "{} of {} rows have propensity 1: the other actions were impossible there, which biases "
        "the estimate if the choice depended on observations",
        series.certain_actions, series.rows));
  }
}

}  // namespace

TransitionEstimate estimate_from_logs(const Pomdp& model, std::span<const std::string> paths,
                                      const LogEstimationOptions& options, Parallelism parallelism,
                                      const RowsRead& progress) {
  OAS_REQUIRE(!paths.empty(), "no log to estimate from");
  OasOptions oas_options;
  oas_options.name = options.estimator;
  oas_options.confidence = options.confidence;
  oas_options.validate();
  const FoldOptions fold = fold_options(model, options);
  const LeftInverses inverses(model);
  std::mutex progress_mutex;
  const RowsRead report = [&](std::int64_t rows) {
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(rows);
  };
  std::vector<MomentSeries> parts(paths.size());
  parallel_for(paths.size(), parallelism, [&](std::size_t i) {
    parts[i] = fold_file(paths[i], model, inverses, fold, report);
  });
  MomentSeries series;
  for (MomentSeries& part : parts) series.append(std::move(part));
  check_positivity(series, fold, nullptr);
  TransitionEstimate estimate = estimate_oas(series, inverses, model, oas_options);
  check_positivity(series, fold, &estimate);
  return estimate;
}

}  // namespace oas
