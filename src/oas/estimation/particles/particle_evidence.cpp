#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/particles/particle.hpp"

namespace oas::detail {

namespace {

class ParticleBody final : public EvidenceBody {
 public:
  ParticleBody(const EstimatorInfo& info, std::shared_ptr<const Pomdp> model,
               const EvidenceOptions& options)
      : info_(info),
        model_(std::move(model)),
        options_(options),
        estimator_(
            *model_,
            {.name = std::string(info.name), .confidence = 0.95, .posterior = options.particles},
            Rng(options.stream)) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<ParticleBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t /*first_run*/) const override {
    return std::make_unique<ParticleBody>(info_, model_, options_);
  }
  void start_run(RunStart start) override {
    OAS_REQUIRE(start.from_model(),
                "estimator {} starts every run at the model's start and cannot take up a run after "
                "a gap; oas-ml can",
                info_.name);
    estimator_.start_run(start.first() != nullptr ? start.first()->observation : kMissing);
  }
  void add(const RowBlock& rows, const RowSource* /*from*/) override {
    estimator_.add(rows.actions, rows.observations);
  }
  void merge(const EvidenceBody& /*other*/) override {
    throw_invalid_argument("particles cannot be merged");
  }
  [[nodiscard]] bool can_merge() const override { return false; }
  [[nodiscard]] std::int64_t runs() const override { return estimator_.runs(); }
  void save(ByteWriter& out) const override { estimator_.save(out); }
  void load(ByteReader& in) override { estimator_.load(in); }
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override {
    TransitionEstimate estimate = estimator_.finish(options.confidence);
    if (options.error_bars) add_bonferroni_regions(estimate.transition.values(), estimate);
    return estimate;
  }

 private:
  const EstimatorInfo& info_;
  std::shared_ptr<const Pomdp> model_;
  EvidenceOptions options_;
  ParticleEstimator estimator_;
};

}  // namespace

std::unique_ptr<EvidenceBody> make_particle_body(const EstimatorInfo& info, const AnyModel& model,
                                                 const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return make_cell_body(info, *continuous, options);
  }
  return std::make_unique<ParticleBody>(info, std::make_shared<const Pomdp>(std::get<Pomdp>(model)),
                                        options);
}

}  // namespace oas::detail
