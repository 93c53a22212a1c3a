#include "oas/experiments/detail/log_settings.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/estimators.hpp"

namespace oas::detail {

namespace {

constexpr int kPlainPasses = 20'000;  // plain expectation-maximisation may need thousands
constexpr double kHeavyShare = 0.1;   // of all rows, that one row may weigh without a word

constexpr const char* kWhyPropensities =
    "in `after` timing the action of a row is chosen after the observation of the row before, so "
    "pairs must be weighted by 1/propensity, the probability of the chosen action given the "
    "history";
constexpr const char* kWayOut =
    "log propensities of a policy that gives every action a positive probability, or, if actions "
    "were chosen without looking at observations, use --actions-ignore-observations";

}  // namespace

void require_used(const EstimatorInfo& info, const LogEstimationOptions& options) {
  OAS_REQUIRE(options.confidence > 0.0 && options.confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", options.confidence);
  OAS_REQUIRE(options.forgetting.active() || options.forgetting.age == Age::unsaid,
              "the age of rows matters only with a half-life or a window");
  const bool likelihood = info.kind == EstimatorKind::likelihood;
  OAS_REQUIRE(
      options.structure.empty() || likelihood,
      "estimator '{}' cannot use a structure; only the likelihood estimators do: oas-ml, em",
      info.name);
  OAS_REQUIRE(options.prior == 0.0 || likelihood,
              "estimator '{}' cannot use a prior of {} transitions per entry; only the likelihood "
              "estimators do: oas-ml, em",
              info.name, options.prior);
}

OasOptions moment_settings(const LogEstimationOptions& options) {
  OasOptions settings;
  settings.name = options.estimator;
  settings.confidence = options.confidence;
  settings.regions = true;
  settings.validate();
  return settings;
}

LikelihoodEstimatorOptions likelihood_settings(const LogEstimationOptions& options) {
  const EstimatorInfo& info = find_estimator(options.estimator);
  LikelihoodEstimatorOptions settings;
  settings.name = options.estimator;
  settings.confidence = options.confidence;
  settings.regions = true;
  settings.climb.accelerate = info.refine;
  settings.climb.prior = options.prior;
  if (!info.refine) settings.climb.max_passes = kPlainPasses;
  settings.structure = options.structure;
  settings.validate();
  return settings;
}

FoldOptions fold_options(const Pomdp& model, const LogEstimationOptions& options) {
  FoldOptions fold;
  fold.pairing = find_estimator(options.estimator).pairing;
  fold.inverse_propensity = model.timing() == Timing::after && model.num_actions() > 1 &&
                            !options.actions_ignore_observations;
  fold.forgetting = options.forgetting;
  return fold;
}

void require_propensity(const LogReader& reader, const FoldOptions& options) {
  OAS_REQUIRE(!options.inverse_propensity || reader.has_propensity(),
              "{}: has no column propensity: {}. Either {}", reader.name(), kWhyPropensities,
              kWayOut);
}

void check_positivity(const MomentSeries& series, const FoldOptions& options,
                      TransitionEstimate* estimate) {
  if (!options.inverse_propensity) return;
  const double heaviest = 1.0 / series.smallest_propensity;
  if (estimate != nullptr && heaviest > kHeavyShare * static_cast<double>(series.rows)) {
    estimate->warnings.push_back(fmt::format(
        "the smallest propensity is {:.3g}: this one row has the weight of {:.3g} others, so the "
        "estimate depends heavily on it",
        series.smallest_propensity, heaviest));
  }
  if (series.certain_actions == 0) return;
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

}  // namespace oas::detail
