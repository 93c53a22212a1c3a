#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/spectral/spectral.hpp"

namespace oas::detail {

namespace {

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
  void start_run(RunStart /*start*/) override { folder_.start_run(); }
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

}  // namespace

std::unique_ptr<EvidenceBody> make_spectral_body(const EstimatorInfo& info, const AnyModel& model,
                                                 const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return make_cell_body(info, *continuous, options);
  }
  return std::make_unique<SpectralBody>(std::make_shared<const Pomdp>(std::get<Pomdp>(model)),
                                        options.stream);
}

}  // namespace oas::detail
