#include <cmath>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/estimation/sensors/detail/fit_in_parts.hpp"
#include "oas/estimation/sensors/detail/sensor_check.hpp"
#include "oas/estimation/sensors/detail/team_fit.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"

namespace oas::detail {

namespace {

constexpr double kBadFit = 1e-4;  // p-value below which a log is said not to fit
constexpr std::int64_t kMostOtherRows = 1 << 20;

Timing other(Timing timing) { return timing == Timing::before ? Timing::after : Timing::before; }

// The first rows of a log, for the likelihood of a model and as moments.
struct OtherRows {
  OtherRows(const RowLikelihood& log, const Pomdp& model) : likelihood(model) {
    if (!has_blind_sensor(model)) {
      inverses.emplace(model);
      folder.emplace(*inverses, model.timing(), FoldOptions{});
    }
    log.visit_rows(
        [&](Action action, Observation observation, const RunStart* start) {
          if (start != nullptr) likelihood.start_run(*start);
          likelihood.append(action, observation);
          if (!folder) return;
          if (start != nullptr) folder->start_run(*start);
          folder->add({&action, 1}, {&observation, 1}, {});
        },
        kMostOtherRows);
  }

  // Good enough to start from, also where moments would need weights.
  [[nodiscard]] TransitionModel start(const Pomdp& model) {
    if (folder) {
      const MomentSeries series = folder->finish();
      if (!series.batches.empty()) return estimate_oas(series, *inverses, model).transition;
    }
    return TransitionModel::uniform(model.num_states(), model.num_actions());
  }

  TransitionLikelihood likelihood;
  std::optional<LeftInverses> inverses;
  std::optional<PairFolder> folder;
};

// None when the rows are impossible in the other timing, or too few.
std::optional<SensorFit> fit_in_other_timing(const RowLikelihood& log, const Pomdp& model,
                                             const LikelihoodEstimatorOptions& settings,
                                             Parallelism parallelism) {
  if (model.reading_first()) return {};  // rows are shifted for one timing only
  PomdpParts parts = model.parts();
  parts.timing = other(model.timing());
  parts.first_observation.reset();
  const Pomdp turned(std::move(parts));
  LikelihoodEstimatorOptions options;
  options.structure = settings.structure;
  options.error_bars = false;
  try {
    OtherRows rows(log, turned);
    const TransitionEstimate estimate =
        estimate_likelihood(likelihood_rows(rows.likelihood, parallelism),
                            likelihood_starts(turned, rows.start(turned)), turned, options);
    FitInParts test(turned.with_transition(estimate.transition), parallelism);
    const auto runs = rows.likelihood.run_starts();
    std::size_t run = 0;
    for (std::size_t row = 0; row < rows.likelihood.rows(); ++row) {
      const bool starts = run < runs.size() && runs[run] == row;
      const RunStart start = starts ? rows.likelihood.start_of(run++) : RunStart();
      test.add(rows.likelihood.action(row), rows.likelihood.observation(row),
               starts ? &start : nullptr);
    }
    return test.finish();
  } catch (const InvalidArgument&) {
    return {};
  }
}

SensorFit fit_of(const RowLikelihood& log, const Pomdp& fitted, const TransitionEstimate& estimate,
                 Parallelism parallelism) {
  if (log.team_rows() != nullptr) {
    return lead_fit(*log.team_rows(), fitted, estimate.unknown_start, parallelism);
  }
  FitInParts test(fitted, parallelism);
  const auto law = estimate.unknown_start.empty()
                       ? nullptr
                       : std::make_shared<const std::vector<double>>(estimate.unknown_start);
  log.visit_rows(
      [&](Action action, Observation observation, const RunStart* start) {
        const RunStart with_law = start != nullptr ? start->with_law(law) : RunStart();
        test.add(action, observation, start != nullptr ? &with_law : nullptr);
      },
      kMostTestedRows);
  return test.finish();
}

std::string verdict(const SensorFit& fit, const std::optional<SensorFit>& turned,
                    const Pomdp& model, bool structured) {
  const auto timing = to_string(model.timing());
  const auto turned_timing = to_string(other(model.timing()));
  const std::string found = fit.brief(model);
  const char* const or_structure = structured ? ", or the structure does not hold" : "";
  if (model.reading_first()) {
    return fmt::format(
        "the log does not fit the sensors of the model: the sensors are wrong, or the rows of the "
        "log are not reading-first{}; {}",
        or_structure, found);
  }
  if (!turned || std::isnan(turned->p_value)) {
    return fmt::format(
        "the log does not fit the sensors of the model in timing {}: the sensors are wrong, or the "
        "timing of the log is {}{}; {}",
        timing, turned_timing, or_structure, found);
  }
  if (turned->p_value >= kBadFit) {
    return fmt::format(
        "the log does not fit the sensors of the model in timing {} (p = {:.2g}); it does in "
        "timing {} (p = {:.2g}): check the timing of the log, then the sensors{}; {}",
        timing, fit.p_value, turned_timing, turned->p_value, or_structure, found);
  }
  return fmt::format(
      "the log does not fit the sensors of the model in timing {} (p = {:.2g}), nor in timing {} "
      "(p = {:.2g}): the sensors are wrong, or every action was chosen knowing the reading of its "
      "own row (--rows reading-first){}; {}",
      timing, fit.p_value, turned_timing, turned->p_value, or_structure, found);
}

}  // namespace

void add_sensor_fit(const RowLikelihood& log, const Pomdp& model,
                    const LikelihoodEstimatorOptions& settings, Parallelism parallelism,
                    TransitionEstimate& estimate) {
  const SensorFit fit = fit_of(log, estimated_model(model, estimate), estimate, parallelism);
  estimate.fit_p_value = fit.p_value;
  if (!(fit.p_value < kBadFit)) return;
  const auto turned = fit_in_other_timing(log, model, settings, parallelism);
  estimate.warnings.push_back(verdict(fit, turned, model, !settings.structure.empty()));
}

}  // namespace oas::detail
