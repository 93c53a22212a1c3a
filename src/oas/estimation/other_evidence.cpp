#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/particles/particle.hpp"
#include "oas/estimation/spectral/spectral.hpp"
#include "oas/sensors/cells.hpp"

/// Estimators that need finite observations and look at no propensities, and cells for them.
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
  void start_run() override { estimator_.start_run(); }
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

class SpectralBody final : public EvidenceBody {
 public:
  SpectralBody(std::shared_ptr<const Pomdp> model, const StreamKey& stream)
      : model_(std::move(model)),
        stream_(stream),
        folder_(model_->num_actions(), model_->num_observations()) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<SpectralBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t /*first_run*/) const override {
    return std::make_unique<SpectralBody>(model_, stream_);
  }
  void start_run() override { folder_.start_run(); }
  void add(const RowBlock& rows, const RowSource* /*from*/) override {
    folder_.add(rows.actions, rows.observations);
  }
  void merge(const EvidenceBody& other) override {
    folder_.merge(static_cast<const SpectralBody&>(other).folder_);
  }
  [[nodiscard]] std::int64_t runs() const override { return folder_.runs(); }
  void save(ByteWriter& out) const override { folder_.save(out); }
  void load(ByteReader& in) override { folder_.load(in); }
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& /*options*/) const override {
    Rng rng(stream_);
    return estimate_spectral(folder_, *model_, {}, rng);
  }

 private:
  std::shared_ptr<const Pomdp> model_;
  StreamKey stream_;
  TripleFolder folder_;
};

// Real-valued observations as cells, and an estimator for these.
class CellBody final : public EvidenceBody {
 public:
  CellBody(const EstimatorInfo& info, std::shared_ptr<const Cells> cells,
           std::unique_ptr<EvidenceBody> finite)
      : info_(info), cells_(std::move(cells)), finite_(std::move(finite)) {}
  CellBody(const CellBody& other)
      : EvidenceBody(other),
        info_(other.info_),
        cells_(other.cells_),
        finite_(other.finite_->clone()) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<CellBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<CellBody>(info_, cells_, finite_->fresh(first_run));
  }
  void start_run() override { finite_->start_run(); }
  void add(const RowBlock& rows, const RowSource* from) override {
    OAS_REQUIRE(!rows.readings.empty(),
                "{}: contains likelihoods, but cells need observations; use oas-soft or oas-ml",
                from != nullptr ? from->name() : "rows");
    seen_.assign(rows.observations.begin(), rows.observations.end());
    to_cells(rows.readings, *cells_, seen_);
    RowBlock finite = rows;
    finite.observations = seen_;
    finite.readings = {};
    finite.likelihoods = {};
    // Whoever wants the rows again does not find cells in their source.
    finite_->add(finite, info_.reading == Reading::once ? from : nullptr);
  }
  [[nodiscard]] bool can_merge() const override { return finite_->can_merge(); }
  void merge(const EvidenceBody& other) override {
    finite_->merge(*static_cast<const CellBody&>(other).finite_);
  }
  [[nodiscard]] std::int64_t runs() const override { return finite_->runs(); }
  void save(ByteWriter& out) const override { finite_->save(out); }
  void load(ByteReader& in) override { finite_->load(in); }
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override {
    return finite_->estimate(options);
  }

 private:
  const EstimatorInfo& info_;
  std::shared_ptr<const Cells> cells_;
  std::unique_ptr<EvidenceBody> finite_;
  std::vector<Observation> seen_;
};

std::shared_ptr<const Pomdp> shared(const AnyModel& model) {
  return std::make_shared<const Pomdp>(std::get<Pomdp>(model));
}

}  // namespace

std::unique_ptr<EvidenceBody> make_particle_body(const EstimatorInfo& info, const AnyModel& model,
                                                 const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return make_cell_body(info, *continuous, options);
  }
  return std::make_unique<ParticleBody>(info, shared(model), options);
}

std::unique_ptr<EvidenceBody> make_spectral_body(const EstimatorInfo& info, const AnyModel& model,
                                                 const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return make_cell_body(info, *continuous, options);
  }
  return std::make_unique<SpectralBody>(shared(model), options.stream);
}

std::unique_ptr<EvidenceBody> make_cell_body(const EstimatorInfo& info,
                                             const ContinuousPomdp& model,
                                             const EvidenceOptions& options) {
  OAS_REQUIRE(model.has_sensors(),
              "estimator {} needs the densities of the observations; oas-soft and oas-ml work on "
              "likelihoods",
              info.name);
  auto cells = std::make_shared<const Cells>(find_cells(model.sensors(), options.cells).cells);
  auto finite = info.make(info, discretise(model, *cells), options);
  return std::make_unique<CellBody>(info, std::move(cells), std::move(finite));
}

}  // namespace oas::detail
