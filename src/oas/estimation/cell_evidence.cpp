#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/sensors/cells.hpp"

namespace oas::detail {

namespace {

// Real-valued observations as cells, and an estimator for these.
class CellBody final : public EvidenceBody {
 public:
  CellBody(const EstimatorInfo& info, std::shared_ptr<const Cells> cells,
           std::shared_ptr<const Pomdp> model, std::unique_ptr<EvidenceBody> finite)
      : info_(info),
        cells_(std::move(cells)),
        model_(std::move(model)),
        finite_(std::move(finite)) {}
  CellBody(const CellBody& other)
      : EvidenceBody(other),
        info_(other.info_),
        cells_(other.cells_),
        model_(other.model_),
        finite_(other.finite_->clone()) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<CellBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<CellBody>(info_, cells_, model_, finite_->fresh(first_run));
  }
  [[nodiscard]] RunCut run_cut() const override { return finite_->run_cut(); }
  void go_on(std::int64_t rows, const RowBlock& before) override {
    require_readings(before.readings, nullptr);
    finite_->go_on(rows, in_cells(before));
  }
  void start_run(RunStart given) override {
    const RunStart start = given.with_whole_reading();  // as to_cells() has it
    const FirstReading* const first = start.first();
    if (first == nullptr || first->observation == kMissing) return finite_->start_run(start);
    require_readings(first->reading, nullptr);
    finite_->start_run(
        start.with(first_reading(*model_->first_observation(), cells_->cell(first->reading))));
  }
  void add(const RowBlock& rows, const RowSource* from) override {
    require_readings(rows.readings, from);
    // Whoever wants the rows again does not find cells in their source.
    finite_->add(in_cells(rows), info_.reading == Reading::once ? from : nullptr);
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
  [[nodiscard]] RowBlock in_cells(const RowBlock& rows) {
    seen_.assign(rows.observations.begin(), rows.observations.end());
    to_cells(rows.readings, *cells_, seen_);
    RowBlock finite = rows;
    finite.observations = seen_;
    finite.readings = {};
    finite.likelihoods = {};
    return finite;
  }
  static void require_readings(std::span<const double> readings, const RowSource* from) {
    OAS_REQUIRE(!readings.empty(),
                "{}: contains likelihoods, but cells need observations; use oas-soft or oas-ml",
                from != nullptr ? from->name() : "rows");
  }

  const EstimatorInfo& info_;
  std::shared_ptr<const Cells> cells_;
  std::shared_ptr<const Pomdp> model_;  // of the cells
  std::unique_ptr<EvidenceBody> finite_;
  std::vector<Observation> seen_;
};

}  // namespace

std::unique_ptr<EvidenceBody> make_cell_body(const EstimatorInfo& info,
                                             const ContinuousPomdp& model,
                                             const EvidenceOptions& options) {
  OAS_REQUIRE(model.has_sensors(),
              "estimator {} needs the densities of the observations; oas-soft and oas-ml work on "
              "likelihoods",
              info.name);
  auto cells = std::make_shared<const Cells>(find_cells(model.sensors(), options.cells).cells);
  auto cut = std::make_shared<const Pomdp>(discretise(model, *cells));
  auto finite = info.make(info, *cut, options);
  return std::make_unique<CellBody>(info, std::move(cells), std::move(cut), std::move(finite));
}

}  // namespace oas::detail
