#include "oas/experiments/row_estimator.hpp"

#include <utility>
#include <vector>

#include "oas/counts/pair_folder.hpp"
#include "oas/counts/soft_pairs.hpp"
#include "oas/counts/weighted_pairs.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/estimation/particle.hpp"
#include "oas/estimation/spectral.hpp"

namespace oas {

namespace {

constexpr int kMostPlainPasses = 20'000;  // plain expectation-maximisation may need thousands

class MomentRows final : public RowEstimator {
 public:
  MomentRows(const EstimatorInfo& info, const Pomdp& model, bool reacts)
      : model_(model),
        inverses_(info.soft ? soft_inverses(model) : LeftInverses(model)),
        folder_(inverses_, model.timing(), fold(info, reacts)) {
    options_.name = info.name;
  }
  MomentRows(const MomentRows&) = delete;  // the folder points at inverses_
  MomentRows& operator=(const MomentRows&) = delete;

  void add(const Trajectory& rows) override {
    folder_.add(rows.actions, rows.observations, rows.propensities);
  }

  TransitionEstimate estimate() override {
    PairFolder so_far = folder_;
    return estimate_oas(so_far.finish(), inverses_, model_, options_);
  }

 private:
  [[nodiscard]] FoldOptions fold(const EstimatorInfo& info, bool reacts) const {
    FoldOptions options;
    options.pairing = info.pairing;
    options.inverse_propensity = reacts && model_.timing() == Timing::after;
    return options;
  }

  const Pomdp& model_;
  LeftInverses inverses_;
  PairFolder folder_;
  OasOptions options_;
};

// Keeps the rows, since the weights depend on all of them.
class WeightedRows final : public RowEstimator {
 public:
  WeightedRows(const EstimatorInfo& info, const Pomdp& model, bool reacts)
      : model_(model), reacts_(reacts), marginals_(model.num_actions(), model.num_observations()) {
    options_.name = info.name;
  }

  void add(const Trajectory& rows) override {
    marginals_.add(rows.actions, rows.observations, rows.propensities);
    rows_.push_back({rows.actions, rows.observations, rows.propensities, {}, {}});
  }

  TransitionEstimate estimate() override {
    const WeightedPairs weights = weighted_pairs(model_, marginals_, reacts_);
    PairFolder folder(weights.inverses, model_.timing(), weights.fold);
    for (const Trajectory& rows : rows_) {
      folder.add(rows.actions, rows.observations, rows.propensities);
    }
    return estimate_oas(folder.finish(), weights.inverses, model_, options_);
  }

 private:
  const Pomdp& model_;
  bool reacts_;
  ObservationMarginals marginals_;
  std::vector<Trajectory> rows_;
  OasOptions options_;
};

// Keeps the rows. Refinement starts at the moments, unless a sensor is blind: then there are none.
class LikelihoodRowsInMemory final : public RowEstimator {
 public:
  LikelihoodRowsInMemory(const EstimatorInfo& info, const Pomdp& model, bool reacts)
      : model_(model), refine_(info.refine), rows_(model) {
    if (refine_ && !has_blind_sensor(model))
      moments_ = std::make_unique<MomentRows>(info, model, reacts);
    options_.name = info.name;
    options_.climb.accelerate = refine_;
    if (!refine_) options_.climb.max_passes = kMostPlainPasses;
    options_.error_bars = false;
  }

  void add(const Trajectory& rows) override {
    rows_.append(rows.actions, rows.observations);
    if (moments_) moments_->add(rows);
  }

  TransitionEstimate estimate() override {
    TransitionModel start = TransitionModel::uniform(model_.num_states(), model_.num_actions());
    if (moments_) start = moments_->estimate().transition;
    const std::vector<TransitionModel> starts =
        refine_ ? likelihood_starts(model_, start) : std::vector{start};
    return estimate_likelihood(likelihood_rows(rows_, {1}), starts, model_, options_);
  }

 private:
  const Pomdp& model_;
  bool refine_;
  TransitionLikelihood rows_;
  std::unique_ptr<MomentRows> moments_;
  LikelihoodEstimatorOptions options_;
};

class ParticleRows final : public RowEstimator {
 public:
  ParticleRows(const Pomdp& model, const Rng& rng) : estimator_(model, {}, rng) {}
  void add(const Trajectory& rows) override { estimator_.add(rows.actions, rows.observations); }
  TransitionEstimate estimate() override { return estimator_.finish(); }

 private:
  ParticleEstimator estimator_;
};

class SpectralRows final : public RowEstimator {
 public:
  SpectralRows(const Pomdp& model, const Rng& rng)
      : model_(model), rng_(rng), folder_(model.num_actions(), model.num_observations()) {}
  void add(const Trajectory& rows) override { folder_.add(rows.actions, rows.observations); }
  TransitionEstimate estimate() override {
    Rng rng = rng_;
    return estimate_spectral(folder_, model_, {}, rng);
  }

 private:
  const Pomdp& model_;
  Rng rng_;
  TripleFolder folder_;
};

}  // namespace

std::unique_ptr<RowEstimator> make_row_estimator(const std::string& name, const Pomdp& model,
                                                 bool reacts, const Rng& rng) {
  const EstimatorInfo& info = find_estimator(name);
  switch (info.kind) {
    case EstimatorKind::likelihood:
      return std::make_unique<LikelihoodRowsInMemory>(info, model, reacts);
    case EstimatorKind::posterior:
      return std::make_unique<ParticleRows>(model, rng);
    case EstimatorKind::spectral:
      return std::make_unique<SpectralRows>(model, rng);
    case EstimatorKind::weighted:
      return std::make_unique<WeightedRows>(info, model, reacts);
    case EstimatorKind::moments:
      break;
  }
  return std::make_unique<MomentRows>(info, model, reacts);
}

}  // namespace oas
