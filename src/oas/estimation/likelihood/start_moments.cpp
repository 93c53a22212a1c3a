#include "oas/estimation/likelihood/detail/start_moments.hpp"

#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/moments/detail/soft_moments.hpp"
#include "oas/estimation/moments/oas.hpp"

namespace oas::detail {

namespace {

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
  void go_on(std::int64_t rows, const RowBlock& before) override {
    if (folder_) folder_->go_on(rows, {before.actions.back(), before.observations.back()});
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
  void go_on(std::int64_t /*rows*/, const RowBlock& /*before*/) override {
    throw_invalid_argument("soft features take whole runs");
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

}  // namespace

std::unique_ptr<StartMoments> finite_start(const Pomdp& model, const FoldOptions& fold,
                                           std::int64_t first_run) {
  return std::make_unique<FiniteStart>(model, fold, first_run);
}

std::unique_ptr<StartMoments> soft_start(const ContinuousPomdp& model, const FoldOptions& fold,
                                         std::size_t memory, std::int64_t first_run) {
  return std::make_unique<SoftStart>(model, fold, memory, first_run);
}

}  // namespace oas::detail
