#include "oas/experiments/row_estimator.hpp"

#include <utility>
#include <vector>

#include "oas/counts/pair_folder.hpp"
#include "oas/counts/soft_pairs.hpp"
#include "oas/counts/weighted_pairs.hpp"
#include "oas/estimation/confidence_region.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/estimation/particle.hpp"
#include "oas/estimation/spectral.hpp"

namespace oas {

namespace {

constexpr int kMostPlainPasses = 20'000;  // plain expectation-maximisation may need thousands

OasOptions moment_options(const EstimatorInfo& info, const RowEstimatorOptions& options) {
  OasOptions settings;
  settings.name = info.name;
  settings.confidence = options.confidence;
  settings.regions = options.error_bars;
  return settings;
}

class MomentRows final : public RowEstimator {
 public:
  MomentRows(const EstimatorInfo& info, const Pomdp& model, const RowEstimatorOptions& options)
      : model_(model),
        inverses_(info.soft ? soft_inverses(model) : LeftInverses(model)),
        folder_(inverses_, model.timing(), fold(info, options.reacts)),
        options_(moment_options(info, options)) {}
  MomentRows(const MomentRows&) = delete;  // the folder points at inverses_
  MomentRows& operator=(const MomentRows&) = delete;

  void start_run() override { folder_.start_run(); }

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
  WeightedRows(const EstimatorInfo& info, const Pomdp& model, const RowEstimatorOptions& options)
      : model_(model),
        reacts_(options.reacts),
        marginals_(model.num_actions(), model.num_observations()),
        options_(moment_options(info, options)) {}

  void start_run() override { new_run_ = true; }

  void add(const Trajectory& rows) override {
    marginals_.add(rows.actions, rows.observations, rows.propensities);
    rows_.push_back({{rows.actions, rows.observations, rows.propensities, {}, {}}, new_run_});
    new_run_ = false;
  }

  TransitionEstimate estimate() override {
    const WeightedPairs weights = weighted_pairs(model_, marginals_, reacts_);
    PairFolder folder(weights.inverses, model_.timing(), weights.fold);
    for (const auto& [rows, starts_run] : rows_) {
      if (starts_run) folder.start_run();
      folder.add(rows.actions, rows.observations, rows.propensities);
    }
    return estimate_oas(folder.finish(), weights.inverses, model_, options_);
  }

 private:
  const Pomdp& model_;
  bool reacts_;
  ObservationMarginals marginals_;
  std::vector<std::pair<Trajectory, bool>> rows_;  // and whether they start a run
  bool new_run_ = true;
  OasOptions options_;
};

// Keeps the rows. Refinement starts at the moments, unless a sensor is blind: then there are none.
class LikelihoodRowsInMemory final : public RowEstimator {
 public:
  LikelihoodRowsInMemory(const EstimatorInfo& info, const Pomdp& model,
                         const RowEstimatorOptions& options)
      : model_(model), refine_(info.refine), rows_(model) {
    if (refine_ && !has_blind_sensor(model)) {
      moments_ = std::make_unique<MomentRows>(info, model, RowEstimatorOptions{options.reacts});
    }
    options_.name = info.name;
    options_.confidence = options.confidence;
    options_.climb.accelerate = refine_;
    if (!refine_) options_.climb.max_passes = kMostPlainPasses;
    options_.error_bars = options.error_bars;
    options_.regions = options.error_bars;
  }

  void start_run() override {
    rows_.start_run();
    if (moments_) moments_->start_run();
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
  ParticleRows(const EstimatorInfo& info, const Pomdp& model, const RowEstimatorOptions& options,
               const Rng& rng)
      : estimator_(
            model,
            {.name = std::string(info.name), .confidence = options.confidence, .posterior = {}},
            rng),
        regions_(options.error_bars) {}
  void start_run() override { estimator_.start_run(); }
  void add(const Trajectory& rows) override { estimator_.add(rows.actions, rows.observations); }
  TransitionEstimate estimate() override {
    TransitionEstimate estimate = estimator_.finish();
    if (regions_) add_bonferroni_regions(estimate.transition.values(), estimate);
    return estimate;
  }

 private:
  ParticleEstimator estimator_;
  bool regions_;
};

class SpectralRows final : public RowEstimator {
 public:
  SpectralRows(const Pomdp& model, const Rng& rng)
      : model_(model), rng_(rng), folder_(model.num_actions(), model.num_observations()) {}
  void start_run() override { folder_.start_run(); }
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
                                                 const RowEstimatorOptions& options,
                                                 const Rng& rng) {
  const EstimatorInfo& info = find_estimator(name);
  switch (info.kind) {
    case EstimatorKind::likelihood:
      return std::make_unique<LikelihoodRowsInMemory>(info, model, options);
    case EstimatorKind::posterior:
      return std::make_unique<ParticleRows>(info, model, options, rng);
    case EstimatorKind::spectral:
      return std::make_unique<SpectralRows>(model, rng);
    case EstimatorKind::weighted:
      return std::make_unique<WeightedRows>(info, model, options);
    case EstimatorKind::moments:
      break;
  }
  return std::make_unique<MomentRows>(info, model, options);
}

std::unique_ptr<RowEstimator> make_row_estimator(const std::string& name, const Pomdp& model,
                                                 bool reacts, const Rng& rng) {
  return make_row_estimator(name, model, RowEstimatorOptions{.reacts = reacts}, rng);
}

}  // namespace oas
