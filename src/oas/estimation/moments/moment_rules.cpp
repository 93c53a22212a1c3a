#include "oas/estimation/moments/detail/moment_rules.hpp"

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr double kHeavyShare = 0.1;  // of all rows, that one row may weigh without a word

constexpr const char* kWhyPropensities =
    "in `after` timing the action of a row is chosen after the observation of the row before, so "
    "pairs must be weighted by 1/propensity, the probability of the chosen action given the "
    "history";
constexpr const char* kWayOut =
    "log propensities of a policy that gives every action a positive probability, or, if actions "
    "were chosen without looking at observations, use --actions-ignore-observations";

}  // namespace

FoldOptions fold_options(const EstimatorInfo& info, const Pomdp& model,
                         const EvidenceOptions& options) {
  FoldOptions fold;
  fold.pairing = info.pairing;
  fold.inverse_propensity = weights_by_propensity(model.timing(), model.num_actions(),
                                                  !options.actions_ignore_observations);
  fold.forgetting = options.forgetting;
  return fold;
}

void require_propensities(const RowBlock& rows, const FoldOptions& options, const RowSource* from) {
  OAS_REQUIRE(!options.inverse_propensity || rows.size() == 0 || !rows.propensities.empty(),
              "{}: has no column propensity: {}. Either {}",
              from != nullptr ? from->name() : "the log", kWhyPropensities, kWayOut);
}

void check_positivity(const RowBooks& books, const FoldOptions& options,
                      TransitionEstimate* estimate) {
  if (!options.inverse_propensity) return;
  const double heaviest = 1.0 / books.smallest_propensity;
  if (estimate != nullptr && heaviest > kHeavyShare * static_cast<double>(books.rows)) {
    estimate->warnings.push_back(fmt::format(
        "the smallest propensity is {:.3g}: this one row has the weight of {:.3g} others, so the "
        "estimate depends heavily on it",
        books.smallest_propensity, heaviest));
  }
  if (books.certain_actions == 0) return;
  OAS_REQUIRE(books.certain_actions < books.rows,
              "all {} propensities are 1, so the weights 1/propensity say nothing: {}. A policy "
              "that never explores cannot be weighted; {}",
              books.rows, kWhyPropensities, kWayOut);
  if (estimate != nullptr) {
    estimate->warnings.push_back(fmt::format(
        "{} of {} rows have propensity 1: the other actions were impossible there, which biases "
        "the estimate if the choice depended on observations",
        books.certain_actions, books.rows));
  }
}

namespace {

void flag_all_rows(const char* reason, TransitionEstimate& estimate) {
  const int states = estimate.transition.num_states();
  for (int row = 0; row < states * estimate.transition.num_actions(); ++row) {
    estimate.flag(Action{row / states}, State{row % states}, reason);
  }
  estimate.status = EstimateStatus::flagged;
}

}  // namespace

TransitionEstimate estimate_moments(std::string_view name, const MomentSeries& series,
                                    const LeftInverses& inverses, const Pomdp& model,
                                    const FoldOptions& fold, const EstimateOptions& options) {
  check_positivity(series, fold, nullptr);
  OasOptions settings;
  settings.name = name;
  settings.confidence = options.confidence;
  settings.regions = options.error_bars;
  TransitionEstimate estimate = estimate_oas(series, inverses, model, settings);
  if (fold.forgetting.active()) {
    estimate.effective_rows = fold.forgetting.effective_rows(series.run_lengths);
  }
  check_positivity(series, fold, &estimate);
  const bool known = model.num_states() == 1;  // there is nothing to learn
  if (estimate.standard_error.empty() && !known) {
    flag_all_rows("there are too few pairs", estimate);
  }
  return estimate;
}

}  // namespace oas::detail
