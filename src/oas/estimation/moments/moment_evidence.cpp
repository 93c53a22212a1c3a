#include <functional>

#include "oas/counts/pair_folder.hpp"
#include "oas/counts/soft_pairs.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/moments/detail/moment_rules.hpp"
#include "oas/estimation/moments/detail/soft_moments.hpp"

namespace oas::detail {

namespace {

// What does not change while rows come; copies of a body share it.
struct MomentSetting {
  const EstimatorInfo& info;
  Pomdp model;
  LeftInverses inverses;
  FoldOptions fold;
};

class MomentBody final : public EvidenceBody {
 public:
  MomentBody(std::shared_ptr<const MomentSetting> setting, std::int64_t first_run)
      : setting_(std::move(setting)),
        folder_(setting_->inverses, setting_->model.timing(), setting_->fold, first_run) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<MomentBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<MomentBody>(setting_, first_run);
  }
  [[nodiscard]] RunCut run_cut() const override {
    return std::bind_front(PairFolder::cut_behind, setting_->fold.pairing);
  }
  void go_on(std::int64_t rows, const RowBlock& before) override {
    folder_.go_on(rows, {before.actions.back(), before.observations.back()});
  }
  void start_run(RunStart start) override { folder_.start_run(start); }
  void add(const RowBlock& rows, const RowSource* from) override {
    require_propensities(rows, setting_->fold, from);
    folder_.add(rows.actions, rows.observations, rows.propensities);
  }
  // Ages are known in order only.
  [[nodiscard]] bool can_merge() const override { return !setting_->fold.forgetting.active(); }
  void merge(const EvidenceBody& other) override {
    folder_.merge(static_cast<const MomentBody&>(other).folder_);
  }
  [[nodiscard]] std::int64_t runs() const override { return folder_.runs(); }
  void save(ByteWriter& out) const override { folder_.save(out); }
  void load(ByteReader& in) override { folder_.load(in); }

  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override {
    return estimate_moments(setting_->info.name, moments(), setting_->inverses, setting_->model,
                            setting_->fold, options);
  }
  [[nodiscard]] Resampled resample(const TransitionEstimate& /*estimate*/,
                                   const EstimateOptions& options,
                                   const BootstrapOptions& bootstrap) const override {
    return resample_batches(moments(), bootstrap, options.parallelism);
  }
  [[nodiscard]] std::vector<double> again(const EvidenceBody& simulated,
                                          const TransitionEstimate& /*estimate*/,
                                          const EstimateOptions& /*options*/) const override {
    return moment_ratios(simulated.moments().total(), moment_ratios(moments().total()));
  }
  [[nodiscard]] MomentSeries moments() const override {
    MomentSeries series = folder_.so_far();
    series.forget(setting_->fold.forgetting);
    return series;
  }

 private:
  std::shared_ptr<const MomentSetting> setting_;
  PairFolder folder_;
};

// Moments of the soft features of real-valued observations.
class SoftBody final : public EvidenceBody {
 public:
  SoftBody(const EstimatorInfo& info, const ContinuousPomdp& model, const EvidenceOptions& options,
           std::int64_t first_run)
      : info_(info),
        model_(model),
        options_(options),
        fold_(fold_options(info, model.chain(), options)),
        moments_(model, fold_, options.memory_limit, first_run) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<SoftBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<SoftBody>(info_, model_, options_, first_run);
  }
  void start_run(RunStart start) override {
    moments_.start_run(start);
    ++runs_;
  }
  void add(const RowBlock& rows, const RowSource* from) override {
    require_propensities(rows, fold_, from);
    moments_.add(rows);
  }
  [[nodiscard]] std::string hinders_team() const override {
    return model_.has_sensors() ? "" : "its mean features come from the first rows";
  }
  // Each part may keep as many rows as all of them; a team has a memory for each.
  void read(RowSource& source, std::int64_t first_run, Parallelism parallelism) override {
    if (parallelism.team == nullptr) return take(source);
    EvidenceBody::read(source, first_run, parallelism);
  }
  void merge(const EvidenceBody& other) override {
    const auto& soft = static_cast<const SoftBody&>(other);
    moments_.merge(soft.moments_);
    runs_ += soft.runs_;
  }
  [[nodiscard]] std::int64_t runs() const override { return runs_; }
  void save(ByteWriter& out) const override {
    moments_.save(out);
    out.put(runs_);
  }
  void load(ByteReader& in) override {
    moments_.load(in);
    runs_ = in.get<std::int64_t>();
  }

  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override {
    const Pomdp soft = moments_.soft_model();
    const LeftInverses inverses(soft);
    TransitionEstimate estimate =
        estimate_moments(info_.name, moments_.series(inverses), inverses, soft, fold_, options);
    const SoftSample& sample = moments_.sample();
    if (sample.kept() < sample.rows()) {
      estimate.warnings.push_back(
          fmt::format("the mean features come from the first {} of {} rows: more did not fit into "
                      "the memory allowed",
                      sample.kept(), sample.rows()));
    }
    return estimate;
  }

 private:
  const EstimatorInfo& info_;
  ContinuousPomdp model_;
  EvidenceOptions options_;
  FoldOptions fold_;
  SoftMoments moments_;
  std::int64_t runs_ = 0;
};

std::unique_ptr<EvidenceBody> moment_body(const EstimatorInfo& info, const Pomdp& model,
                                          LeftInverses inverses, const EvidenceOptions& options) {
  return std::make_unique<MomentBody>(
      std::make_shared<MomentSetting>(
          MomentSetting{info, model, std::move(inverses), fold_options(info, model, options)}),
      0);
}

}  // namespace

std::unique_ptr<EvidenceBody> make_moment_body(const EstimatorInfo& info, const AnyModel& model,
                                               const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return make_cell_body(info, *continuous, options);
  }
  const auto& finite = std::get<Pomdp>(model);
  return moment_body(info, finite, LeftInverses(finite), options);
}

std::unique_ptr<EvidenceBody> make_soft_body(const EstimatorInfo& info, const AnyModel& model,
                                             const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return std::make_unique<SoftBody>(info, *continuous, options, 0);
  }
  const auto& finite = std::get<Pomdp>(model);
  return moment_body(info, finite, soft_inverses(finite), options);
}

}  // namespace oas::detail
