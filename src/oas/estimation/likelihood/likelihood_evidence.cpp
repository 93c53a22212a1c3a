#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/estimation/likelihood/weighted_likelihood.hpp"
#include "oas/estimation/moments/detail/moment_rules.hpp"
#include "oas/estimation/moments/detail/soft_moments.hpp"
#include "oas/estimation/sensors/detail/sensor_check.hpp"
#include "oas/estimation/sensors/uncertain_sensors.hpp"

namespace oas::detail {

namespace {

constexpr int kPlainPasses = 20'000;  // plain expectation-maximisation may need thousands

// The moments at which a climb starts, and the model it is judged by. Weighted where rows have
// propensities, and good enough where they have none.
class StartMoments {
 public:
  virtual ~StartMoments() = default;
  [[nodiscard]] virtual std::unique_ptr<StartMoments> clone() const = 0;
  virtual void start_run(const RunStart& start) = 0;
  virtual void add(const RowBlock& rows) = 0;
  virtual void merge(const StartMoments& other) = 0;
  virtual void save(ByteWriter& out) const = 0;
  virtual void load(ByteReader& in) = 0;
  [[nodiscard]] virtual Pomdp judge() const = 0;
  [[nodiscard]] virtual std::optional<TransitionModel> estimate(const Pomdp& judge) const = 0;
};

class FiniteStart final : public StartMoments {
 public:
  FiniteStart(const Pomdp& model, const FoldOptions& fold, std::int64_t first_run) : model_(model) {
    if (has_blind_sensor(model)) return;
    inverses_ = std::make_shared<const LeftInverses>(model);
    folder_.emplace(*inverses_, model.timing(), fold, first_run);
  }
  [[nodiscard]] std::unique_ptr<StartMoments> clone() const override {
    return std::make_unique<FiniteStart>(*this);
  }
  void start_run(const RunStart& start) override {
    if (folder_) folder_->start_run(start);
  }
  void add(const RowBlock& rows) override {
    if (folder_) folder_->add(rows.actions, rows.observations, rows.propensities);
  }
  void merge(const StartMoments& other) override {
    if (folder_) folder_->merge(*static_cast<const FiniteStart&>(other).folder_);
  }
  void save(ByteWriter& out) const override {
    if (folder_) folder_->save(out);
  }
  void load(ByteReader& in) override {
    if (folder_) folder_->load(in);
  }
  [[nodiscard]] Pomdp judge() const override { return model_; }
  [[nodiscard]] std::optional<TransitionModel> estimate(const Pomdp& judge) const override {
    if (!folder_) return {};
    MomentSeries series = folder_->so_far();
    series.forget(folder_->options().forgetting);
    if (series.batches.empty()) return {};
    return estimate_oas(series, *inverses_, judge).transition;
  }

 private:
  Pomdp model_;
  std::shared_ptr<const LeftInverses> inverses_;
  std::optional<PairFolder> folder_;  // none: some sensor is blind
};

class SoftStart final : public StartMoments {
 public:
  SoftStart(const ContinuousPomdp& model, const FoldOptions& fold, std::size_t memory,
            std::int64_t first_run)
      : chain_(model.chain()) {
    if (SoftMoments::fits(model)) moments_.emplace(model, fold, memory, first_run);
  }
  [[nodiscard]] std::unique_ptr<StartMoments> clone() const override {
    return std::make_unique<SoftStart>(*this);
  }
  void start_run(const RunStart& start) override {
    if (moments_) moments_->start_run(start);
  }
  void add(const RowBlock& rows) override {
    if (moments_) moments_->add(rows);
  }
  void merge(const StartMoments& other) override {
    if (moments_) moments_->merge(*static_cast<const SoftStart&>(other).moments_);
  }
  void save(ByteWriter& out) const override {
    if (moments_) moments_->save(out);
  }
  void load(ByteReader& in) override {
    if (moments_) moments_->load(in);
  }
  // Without moments nothing is known of the sensors; one observation is what is surely too bad.
  [[nodiscard]] Pomdp judge() const override { return moments_ ? moments_->soft_model() : chain_; }
  [[nodiscard]] std::optional<TransitionModel> estimate(const Pomdp& judge) const override {
    if (!moments_ || has_blind_sensor(judge)) return {};
    const LeftInverses inverses(judge);
    const MomentSeries series = moments_->series(inverses);
    if (series.batches.empty()) return {};
    return estimate_oas(series, inverses, judge).transition;
  }

 private:
  Pomdp chain_;
  std::optional<SoftMoments> moments_;  // none: too many symbols
};

// Keeps the rows, or reads their source again.
class LikelihoodBody final : public EvidenceBody {
 public:
  LikelihoodBody(const EstimatorInfo& info, const AnyModel& model, const EvidenceOptions& options,
                 bool refine, std::int64_t first_run = 0)
      : info_(info),
        given_(std::make_shared<const AnyModel>(model)),
        model_(opened(given_, options)),
        options_(options),
        refine_(refine),
        rows_(std::visit([&](const auto& any) { return RowLikelihood(any, options.memory_limit); },
                         *model_)) {
    const auto* finite = std::get_if<Pomdp>(model_.get());
    if (finite == nullptr) {
      const auto& continuous = std::get<ContinuousPomdp>(*model_);
      fold_ = fold_options(info, continuous.chain(), options);
      start_ = std::make_unique<SoftStart>(continuous, fold_, options.memory_limit, first_run);
    } else if (refine) {
      fold_ = fold_options(info, *finite, options);
      start_ = std::make_unique<FiniteStart>(*finite, fold_, first_run);
    }
  }
  LikelihoodBody(const LikelihoodBody& other)
      : EvidenceBody(other),
        info_(other.info_),
        given_(other.given_),
        model_(other.model_),
        options_(other.options_),
        refine_(other.refine_),
        fold_(other.fold_),
        rows_(other.rows_),
        runs_(other.runs_),
        start_(other.start_ ? other.start_->clone() : nullptr) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<LikelihoodBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<LikelihoodBody>(info_, *given_, options_, refine_, first_run);
  }
  void start_run(RunStart start) override {
    rows_.start_run(start);
    start_run_of_moments(start);
  }
  void add(const RowBlock& rows, const RowSource* /*from*/) override {
    rows_.add(rows);
    add_to_moments(rows);
  }
  void read(RowSource& source, std::int64_t /*first_run*/, Parallelism /*parallelism*/) override {
    rows_.read(source, [&](const RowBlock& block) {
      by_runs(
          block, [&](const RunStart& start) { start_run_of_moments(start); },
          [&](const RowBlock& rows) { add_to_moments(rows); });
    });
  }
  void merge(const EvidenceBody& other) override {
    const auto& likelihood = static_cast<const LikelihoodBody&>(other);
    rows_.append(likelihood.rows_);
    rows_.start_run();
    if (start_) start_->merge(*likelihood.start_);
    runs_ += likelihood.runs_;
  }
  [[nodiscard]] bool can_merge() const override { return !options_.forgetting.active(); }
  [[nodiscard]] std::int64_t runs() const override { return runs_; }
  void save(ByteWriter& out) const override {
    rows_.save(out);
    out.put(runs_);
    if (start_) start_->save(out);
  }
  void load(ByteReader& in) override {
    rows_.load(in);
    runs_ = in.get<std::int64_t>();
    if (start_) start_->load(in);
  }
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override;
  void check(const EstimateOptions& options, TransitionEstimate& estimate) const override;
  [[nodiscard]] Resampled resample(const TransitionEstimate& estimate,
                                   const EstimateOptions& options,
                                   const BootstrapOptions& bootstrap) const override;
  [[nodiscard]] std::vector<double> again(const EvidenceBody& simulated,
                                          const TransitionEstimate& estimate,
                                          const EstimateOptions& options) const override {
    const auto& rows = static_cast<const LikelihoodBody&>(simulated).rows_;
    return climb_again(likelihood_rows(rows.stored(), {1}).likelihood, estimate.transition,
                       settings(options).climb);
  }
  [[nodiscard]] std::optional<StoredRows> rows() const override;

 private:
  static std::shared_ptr<const AnyModel> opened(const std::shared_ptr<const AnyModel>& model,
                                                const EvidenceOptions& options) {
    const auto* finite = std::get_if<Pomdp>(model.get());
    if (finite == nullptr || !options.uncertain_sensors) return model;
    return std::make_shared<const AnyModel>(UncertainSensors::opened(*finite));
  }
  void start_run_of_moments(const RunStart& start) {
    if (start_) start_->start_run(start);
    ++runs_;
  }
  void add_to_moments(RowBlock rows) {
    if (!start_) return;
    if (rows.propensities.empty() && fold_.inverse_propensity) {
      ones_.assign(rows.size(), 1.0);
      rows.propensities = ones_;
    }
    start_->add(rows);
  }
  [[nodiscard]] LikelihoodEstimatorOptions settings(const EstimateOptions& options) const;
  void require_in_memory() const;

  const EstimatorInfo& info_;
  std::shared_ptr<const AnyModel> given_;
  std::shared_ptr<const AnyModel> model_;  // with sensors that may be uncertain
  EvidenceOptions options_;
  bool refine_;
  FoldOptions fold_;
  RowLikelihood rows_;
  std::int64_t runs_ = 0;
  std::unique_ptr<StartMoments> start_;  // none: starts at uniform
  std::vector<double> ones_;
};

LikelihoodEstimatorOptions LikelihoodBody::settings(const EstimateOptions& options) const {
  LikelihoodEstimatorOptions settings;
  settings.name = info_.name;
  settings.confidence = options.confidence;
  settings.error_bars = options.error_bars;
  settings.regions = options.error_bars;
  settings.climb.accelerate = refine_;
  settings.climb.prior = options.prior;
  if (!refine_) settings.climb.max_passes = kPlainPasses;
  settings.structure = options.structure;
  settings.validate();
  return settings;
}

TransitionEstimate LikelihoodBody::estimate(const EstimateOptions& options) const {
  const LikelihoodEstimatorOptions likelihood = settings(options);
  const Pomdp judge = start_ ? start_->judge() : std::get<Pomdp>(*model_);
  TransitionModel start = TransitionModel::uniform(judge.num_states(), judge.num_actions());
  if (refine_) {
    if (auto moments = start_->estimate(judge)) start = std::move(*moments);
  }
  const std::vector<TransitionModel> starts =
      refine_ ? likelihood_starts(judge, start) : std::vector<TransitionModel>{start};
  const TransitionModel uniform = TransitionModel::uniform(judge.num_states(), judge.num_actions());
  if (!options.structure.empty()) {
    rows_.require_possible(options.structure.expand(options.structure.reduce(uniform)),
                           kAllowedTransition, options.parallelism);
  } else if (std::find(judge.start().begin(), judge.start().end(), 0.0) != judge.start().end()) {
    rows_.require_possible(uniform, kAnyTransition, options.parallelism);
  }
  const LikelihoodRows rows = with_forgetting(rows_.rows(options.parallelism, options.progress),
                                              options_.forgetting, rows_.run_lengths());
  return options_.uncertain_sensors ? estimate_with_sensors(rows, starts, judge, likelihood)
                                    : estimate_likelihood(rows, starts, judge, likelihood);
}

void LikelihoodBody::check(const EstimateOptions& options, TransitionEstimate& estimate) const {
  const auto* finite = std::get_if<Pomdp>(model_.get());
  // Older rows need not fit, nor need any where a prior has its say.
  if (finite == nullptr || options_.forgetting.active() || options.prior > 0.0) return;
  add_sensor_fit(rows_, *finite, settings(options), options.parallelism, estimate);
}

void LikelihoodBody::require_in_memory() const {
  OAS_REQUIRE(rows_.in_memory(),
              "the rows need more than {} bytes of memory, and a bootstrap keeps them there; allow "
              "more memory, or take asymptotic error bars",
              options_.memory_limit);
}

Resampled LikelihoodBody::resample(const TransitionEstimate& estimate,
                                   const EstimateOptions& options,
                                   const BootstrapOptions& bootstrap) const {
  require_in_memory();
  return resample_blocks(std::get<Pomdp>(*model_), rows_.stored(), estimate.transition,
                         settings(options).climb, bootstrap, options.parallelism);
}

std::optional<StoredRows> LikelihoodBody::rows() const {
  require_in_memory();
  StoredRows rows;
  rows_.visit_rows([&](Action action, Observation observation, const RunStart* start) {
    if (start != nullptr) rows.start_run(*start);
    RowBlock row;
    row.actions = {&action, 1};
    row.observations = {&observation, 1};
    rows.add(row);
  });
  return rows;
}

}  // namespace

std::unique_ptr<EvidenceBody> make_refined_body(const EstimatorInfo& info, const AnyModel& model,
                                                const EvidenceOptions& options) {
  return std::make_unique<LikelihoodBody>(info, model, options, true);
}

std::unique_ptr<EvidenceBody> make_likelihood_body(const EstimatorInfo& info, const AnyModel& model,
                                                   const EvidenceOptions& options) {
  return std::make_unique<LikelihoodBody>(info, model, options, false);
}

}  // namespace oas::detail
