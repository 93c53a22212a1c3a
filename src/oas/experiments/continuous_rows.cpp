#include "oas/experiments/continuous_rows.hpp"

#include "oas/core/contracts.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/experiments/continuous_estimation.hpp"
#include "oas/experiments/detail/log_settings.hpp"
#include "oas/experiments/detail/soft_moments.hpp"
#include "oas/experiments/row_estimator.hpp"

namespace oas {

namespace {

constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

LogEstimationOptions settings_of(const EstimatorInfo& info, bool reacts) {
  LogEstimationOptions options;
  options.estimator = info.name;
  options.actions_ignore_observations = !reacts;
  return options;
}

class CellRows final : public ContinuousRowEstimator {
 public:
  CellRows(const EstimatorInfo& info, const ContinuousPomdp& model, bool reacts,
           const CellSearchOptions& search)
      : cells_(find_cells(model.sensors(), search).cells),
        finite_(discretise(model, cells_)),
        estimator_(make_row_estimator(std::string(info.name), finite_, reacts,
                                      Rng({0, 0, Role::estimation}))) {}

  void add(const LogBlock& block) override {
    block_ = block;
    to_cells(block_, cells_);
    estimator_->add(block_.rows);
  }
  TransitionEstimate estimate() override { return estimator_->estimate(); }

 private:
  Cells cells_;
  Pomdp finite_;
  std::unique_ptr<RowEstimator> estimator_;
  LogBlock block_;
};

// Soft moments, and likelihood started there.
class SoftRows final : public ContinuousRowEstimator {
 public:
  SoftRows(const EstimatorInfo& info, const ContinuousPomdp& model, bool reacts)
      : info_(info),
        options_(settings_of(info, reacts)),
        soft_(model.with_sensors(soft_sensors(model.sensors()))),
        moments_(model, detail::fold_options(model.chain(), options_), kNoLimit),
        rows_(TransitionLikelihood::with_vectors(model.chain())) {}

  void add(const LogBlock& block) override {
    moments_.add(block, block.rows.propensities);
    if (info_.kind != EstimatorKind::likelihood) return;
    const auto n = static_cast<std::size_t>(soft_.num_states());
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      rows_.append(block.rows.actions[t], std::span(block.likelihoods).subspan(t * n, n));
    }
  }

  TransitionEstimate estimate() override {
    const bool climbs = info_.kind == EstimatorKind::likelihood;
    TransitionModel start = TransitionModel::uniform(soft_.num_states(), soft_.num_actions());
    if (!climbs || (info_.refine && !has_blind_sensor(soft_))) {
      const LeftInverses inverses(soft_);
      detail::SoftMoments so_far = moments_;
      TransitionEstimate estimate =
          estimate_oas(so_far.finish(inverses), inverses, soft_, detail::moment_settings(options_));
      if (!climbs) return estimate;
      start = std::move(estimate.transition);
    }
    LikelihoodEstimatorOptions settings = detail::likelihood_settings(options_);
    settings.error_bars = false;
    const std::vector<TransitionModel> starts =
        info_.refine ? likelihood_starts(soft_, start) : std::vector{start};
    return estimate_likelihood(likelihood_rows(rows_, {1}), starts, soft_, settings);
  }

 private:
  const EstimatorInfo& info_;
  LogEstimationOptions options_;
  Pomdp soft_;
  detail::SoftMoments moments_;
  TransitionLikelihood rows_;
};

}  // namespace

std::unique_ptr<ContinuousRowEstimator> make_continuous_row_estimator(
    const std::string& name, const ContinuousPomdp& model, bool reacts,
    const CellSearchOptions& cells) {
  const EstimatorInfo& info = find_estimator(name);
  if (info.kind == EstimatorKind::likelihood || info.soft) {
    return std::make_unique<SoftRows>(info, model, reacts);
  }
  return std::make_unique<CellRows>(info, model, reacts, cells);
}

}  // namespace oas
