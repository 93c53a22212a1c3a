#include "coverage_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/jobs/log_bootstrap.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/problems/named.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas::test {

namespace {

constexpr std::uint64_t kSeed = 4711;

TransitionLikelihood rows_of(const Pomdp& model, const RowBlock& log) {
  TransitionLikelihood rows(model);
  rows.append(log.actions, log.observations);
  return rows;
}

TransitionEstimate by_moments(const Pomdp& model, const CoverageCase& one, const LogBlock& log) {
  const LeftInverses inverses(model);
  FoldOptions fold;
  fold.inverse_propensity = one.timing == Timing::after;
  const auto series_of = [&](const RowBlock& rows) {
    PairFolder folder(inverses, one.timing, fold);
    folder.add(rows);
    return folder.finish();
  };
  const MomentSeries series = series_of(log.view());
  TransitionEstimate estimate = estimate_oas(series, inverses, model, {.regions = true});
  if (one.kind == ErrorBars::asymptotic) return estimate;
  const std::vector<double> ratios = moment_ratios(series.total());
  const BootstrapOptions options{one.resamples, kSeed};
  const Resampled resampled =
      one.kind == ErrorBars::block_bootstrap
          ? resample_batches(series, options, {1})
          : resample_parametric(model.with_transition(estimate.transition), log.view(),
                                [&](const RowBlock& again) {
                                  return moment_ratios(series_of(again).total(), ratios);
                                },
                                options, {1});
  set_bootstrap_errors(resampled, one.kind, estimate);
  return estimate;
}

TransitionEstimate by_likelihood(const Pomdp& model, const CoverageCase& one, const LogBlock& log) {
  const TransitionLikelihood rows = rows_of(model, log.rows);
  LikelihoodEstimatorOptions settings;
  settings.regions = true;
  const TransitionModel first = TransitionModel::uniform(model.num_states(), model.num_actions());
  TransitionEstimate estimate =
      estimate_likelihood(likelihood_rows(rows, {1}), {first}, model, settings);
  if (one.kind == ErrorBars::asymptotic) return estimate;
  const BootstrapOptions options{one.resamples, kSeed};
  const Resampled resampled =
      one.kind == ErrorBars::block_bootstrap
          ? resample_blocks(model, rows, estimate.transition, {}, options, {1})
          : resample_parametric(model.with_transition(estimate.transition), log.view(),
                                [&](const RowBlock& again) {
                                  const TransitionLikelihood simulated = rows_of(model, again);
                                  return climb_again(likelihood_rows(simulated, {1}).likelihood,
                                                     estimate.transition, {});
                                },
                                options, {1});
  set_bootstrap_errors(resampled, one.kind, estimate);
  return estimate;
}

// Whether the truth lies in row `row` of a region: in the band, in the ball.
struct Held {
  bool band = true;
  bool ball = true;
};
Held holds(const ConfidenceRegion& region, const TransitionEstimate& estimate,
           std::span<const double> truth, std::size_t row) {
  Held held;
  double distance = 0.0;
  const auto n = static_cast<std::size_t>(estimate.transition.num_states());
  for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
    held.band = held.band && truth[i] >= region.lower[i] && truth[i] <= region.upper[i];
    distance += std::abs(truth[i] - estimate.transition.values()[i]);
  }
  held.ball = distance <= region.l1[row];
  return held;
}

Pomdp model_of(const CoverageCase& one) {
  for (const ProblemInfo& info : problems()) {
    if (one.problem != nullptr && info.name == one.problem) return info.make();
  }
  RandomPomdpOptions random;
  random.num_observations = 4;
  random.timing = one.timing;
  random.min_alpha = 0.3;
  Rng rng({7, 0, Role::problem});
  return random_pomdp(random, rng).model;
}

Coverage of_one(const TransitionEstimate& estimate, std::span<const double> truth) {
  Coverage result;
  const std::size_t num_rows = estimate.visits.size();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    result.entry += truth[i] >= estimate.lower[i] && truth[i] <= estimate.upper[i];
    if (!std::isfinite(estimate.standard_error[i])) continue;
    const double z = (truth[i] - estimate.transition.values()[i]) / estimate.standard_error[i];
    result.mean_square += z * z;
    const double least = 0.5 * std::min(estimate.standard_error[i], 1.0);
    result.empty += estimate.upper[i] - estimate.lower[i] < least;
  }
  result.entry /= static_cast<double>(truth.size());
  result.mean_square /= static_cast<double>(truth.size());
  result.empty /= static_cast<double>(truth.size());
  Held all;
  for (std::size_t row = 0; row < num_rows; ++row) {
    const Held mine = holds(estimate.row_region, estimate, truth, row);
    result.row += mine.band;
    result.row_l1 += mine.ball;
    const Held joint = holds(estimate.joint_region, estimate, truth, row);
    all.band = all.band && joint.band;
    all.ball = all.ball && joint.ball;
  }
  result.row /= static_cast<double>(num_rows);
  result.row_l1 /= static_cast<double>(num_rows);
  result.all = all.band;
  result.all_l1 = all.ball;
  return result;
}

}  // namespace

std::string CoverageCase::name() const {
  return fmt::format("{}, {}, {}, {}", problem != nullptr ? problem : to_string(timing), policy,
                     likelihood ? "oas-ml" : "oas-overlap", to_string(kind));
}

Coverage measure_coverage(const CoverageCase& one) {
  const Pomdp model = model_of(one);
  PolicyOptions policy;
  policy.name = one.policy;
  if (policy.name == "belief") policy.min_action_probability = 0.1;
  std::vector<Coverage> all(one.runs);
  parallel_for(one.runs, {}, [&](std::size_t r) {
    LogBlock log;
    log.run_starts = {0};
    ClosedLoop loop(model, policy, kSeed, static_cast<std::uint32_t>(r));
    loop.advance(one.steps, log.rows);
    all[r] = of_one(one.likelihood ? by_likelihood(model, one, log) : by_moments(model, one, log),
                    model.transition().values());
  });
  Coverage mean;
  for (const Coverage& run : all) {
    mean.entry += run.entry;
    mean.row += run.row;
    mean.row_l1 += run.row_l1;
    mean.all += run.all;
    mean.all_l1 += run.all_l1;
    mean.mean_square += run.mean_square;
    mean.empty += run.empty;
  }
  for (double* share : {&mean.entry, &mean.row, &mean.row_l1, &mean.all, &mean.all_l1,
                        &mean.mean_square, &mean.empty}) {
    *share /= static_cast<double>(one.runs);
  }
  return mean;
}

}  // namespace oas::test
