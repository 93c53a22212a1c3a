#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/estimation/evidence.hpp"

namespace oas::detail {

/// Parts of a source whose sums are in memory at the same time, however many parts there are.
inline constexpr std::size_t kPartsAtOnce = 64;

/// What an estimator knows of the rows it was shown, one run after the other. Evidence does what
/// all have in common: it cuts blocks into runs, checks columns and keeps rows that must wait.
class EvidenceBody {
 public:
  EvidenceBody() = default;
  EvidenceBody& operator=(const EvidenceBody&) = delete;
  virtual ~EvidenceBody() = default;
  [[nodiscard]] virtual std::unique_ptr<EvidenceBody> clone() const = 0;
  /// One of the same make that has seen nothing, and whose first run is run `first_run` of all.
  [[nodiscard]] virtual std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const = 0;

  /// Where rows that come in parts may cut runs in two, which go_on() then takes.
  [[nodiscard]] virtual RunCut run_cut() const { return {}; }
  /// The rows to come go on in its first run, behind `rows` others, the last of them `before`. It
  /// can then be merged into what knows these.
  virtual void go_on(std::int64_t rows, const RowBlock& before);
  /// One of the same make for a part of rows whose first run is run `first_run` of all.
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh_for(const RowPart& part,
                                                        std::int64_t first_run) const;

  /// The next rows are of a new run. Who only pairs rows needs the cut, not how the run starts.
  virtual void start_run(RunStart start) = 0;
  /// Rows of one run. `from`, whose last block they are of, is for messages; may be null.
  virtual void add(const RowBlock& rows, const RowSource* from) = 0;
  /// All rows of a source, whose first run is run `first_run` of all: in parts, unless overridden.
  virtual void read(RowSource& source, std::int64_t first_run, Parallelism parallelism);
  /// Why a team cannot share the work of read() and estimate(), so that rank 0 does it alone; none:
  /// it can. Then read() leaves what all ranks read with rank 0.
  [[nodiscard]] virtual std::string hinders_team() const;
  /// Another rank does its part of what rank 0 asks for after read().
  virtual void help(const std::string& order, Parallelism parallelism);
  /// Runs so far, without those before the first one.
  [[nodiscard]] virtual std::int64_t runs() const = 0;
  /// One of the same type, whose runs follow. Only where can_merge().
  virtual void merge(const EvidenceBody& other) = 0;
  [[nodiscard]] virtual bool can_merge() const { return true; }

  virtual void save(ByteWriter& out) const = 0;
  virtual void load(ByteReader& in) = 0;

  [[nodiscard]] virtual TransitionEstimate estimate(const EstimateOptions& options) const = 0;
  virtual void check(const EstimateOptions& /*options*/, TransitionEstimate& /*estimate*/) const {}
  [[nodiscard]] virtual Resampled resample(const TransitionEstimate& estimate,
                                           const EstimateOptions& options,
                                           const BootstrapOptions& bootstrap) const;
  [[nodiscard]] virtual std::vector<double> again(const EvidenceBody& simulated,
                                                  const TransitionEstimate& estimate,
                                                  const EstimateOptions& options) const;
  [[nodiscard]] virtual MomentSeries moments() const;
  [[nodiscard]] virtual std::optional<StoredRows> rows() const { return {}; }

 protected:
  EvidenceBody(const EvidenceBody&) = default;
  /// All rows of a source, one after the other.
  void take(RowSource& source);
  /// The same of parts of it, side by side.
  void take(std::span<const RowPart> parts, std::int64_t first_run, Parallelism parallelism);
};

/// Parts are dealt out to the ranks of a team: `read` takes those of this rank, without any the
/// whole source on rank 0, into a body of its own, and on rank 0 `all` takes in all bodies. All
/// ranks call it.
void read_shares(EvidenceBody& all, std::span<const RowPart> parts, std::int64_t first_run,
                 Team& team,
                 const std::function<void(EvidenceBody& body, std::span<const RowPart> own)>& read);

using MakeBody = std::unique_ptr<EvidenceBody>(const EstimatorInfo& info, const AnyModel& model,
                                               const EvidenceOptions& options);
MakeBody make_moment_body;
MakeBody make_soft_body;
MakeBody make_weighted_body;
MakeBody make_refined_body;     ///< likelihood, started at moments
MakeBody make_likelihood_body;  ///< likelihood by plain steps from uniform
MakeBody make_particle_body;
MakeBody make_gibbs_body;
MakeBody make_spectral_body;

/// For real-valued observations: the body that `make` gives for their cells.
[[nodiscard]] std::unique_ptr<EvidenceBody> make_cell_body(const EstimatorInfo& info,
                                                           const ContinuousPomdp& model,
                                                           const EvidenceOptions& options);

}  // namespace oas::detail
