#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/settings.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/estimation/error_bars/bootstrap.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/particles/particle_posterior.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/model/row_source.hpp"
#include "oas/sensors/cell_search.hpp"

namespace oas {

/// What rows are taken in with. Which of these an estimator looks at: EstimatorInfo::settings.
struct EvidenceOptions {
  /// The user's word that actions do not depend on observations; `after` timing without usable
  /// propensities needs it.
  bool actions_ignore_observations = false;
  Forgetting forgetting;  ///< weights by age
  /// Rows from a source are kept in memory up to so many bytes; beyond, it is read again.
  std::size_t memory_limit = std::size_t{256} << 20;
  bool uncertain_sensors = false;  ///< see UncertainSensors
  CellSearchOptions cells;         ///< of real-valued observations
  ParticleOptions particles;
  int draws = 4000;   ///< of a posterior that is drawn from, kept ones
  int patience = 16;  ///< such draws are made up to so many times, until chains of them agree
  /// Of such a posterior: rows of T are Dirichlet(concentration, …) beforehand; none: 1 over the
  /// number of their entries.
  std::optional<double> concentration;
  StreamKey stream{1, 0, Role::estimation};  ///< of the estimators that draw

  template <class Fields>
  void visit_memory(Fields& fields) {
    fields.megabytes("memory", memory_limit,
                     "MB of rows kept in memory; longer logs are read again");
  }

  template <class Fields>
  void visit_draws(Fields& fields) {
    fields("draws", draws, {80, 1'000'000}, "number of draws from the posterior to keep");
    fields("patience", patience, {1, 1000},
           "keep drawing until the chains agree, at most this many times --draws");
    fields("concentration", concentration, {0.001, 1000.0},
           "prior of every row of T: imaginary transitions to each state (default: 1 in all)");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// What is asked of an estimate.
struct EstimateOptions {
  double confidence = 0.95;  ///< level of each interval and region, in (0, 1)
  /// Also error bars that cost more than the estimate, and simultaneous regions.
  bool error_bars = true;
  double prior = 0.0;  ///< likelihood: see LikelihoodOptions::prior
  /// Likelihood: passes over the rows of one climb, and the seconds that it may take; what was met
  /// by then counts. None: 1000 passes (em: 20,000), and no limit of time.
  std::optional<int> max_passes;
  std::optional<double> max_seconds;
  TransitionStructure structure;  ///< likelihood, gibbs: what is known of T beforehand
  /// Transition models drawn from the posterior that the estimate carries, where it is a likelihood
  /// or gibbs and has error bars. None: 200, fewer of models with many entries.
  std::optional<int> carried_draws;
  Parallelism parallelism;
  RowsRead progress;  ///< likelihood: is told the rows of every pass

  template <class Fields>
  void visit_confidence(Fields& fields) {
    fields("confidence", confidence, {kAboveZero, kBelowOne},
           "confidence level of intervals and regions");
  }
  template <class Fields>
  void visit_prior(Fields& fields) {
    fields("prior", prior, {0.0}, "imaginary transitions added to every entry");
  }
  template <class Fields>
  void visit_carried_draws(Fields& fields) {
    fields("carried_draws", carried_draws, {0, 10'000},
           "number of transition models, drawn from the posterior, that the "
           "estimate carries, so that forecasts and plans have limits (default: "
           "200, fewer for large models; 0: none)");
  }
  template <class Fields>
  void visit_budget(Fields& fields) {
    fields("max_passes", max_passes, {1, 1'000'000},
           "passes over the rows after which each maximisation stops (default: "
           "1000, em: 20000)");
    fields("max_seconds", max_seconds, {kAboveZero},
           "seconds after which each maximisation stops; results then depend on "
           "the machine");
  }
  template <class Fields>
  void visit(Fields& fields) {
    visit_confidence(fields);
    visit_prior(fields);
  }

  /// How many such draws an estimate of so many entries of T carries; 0 without error bars.
  [[nodiscard]] std::size_t draws_to_carry(std::size_t entries) const;
  /// The estimate alone, by one thread: for studies that make many.
  [[nodiscard]] static EstimateOptions bare();
  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// An estimator and all that it knows of the rows it was shown: a value that can be copied, merged
/// and saved. It is told rows, block by block, and can be asked at any time what it makes of them:
///
///     Evidence evidence = make_evidence("oas-overlap", model);
///     evidence.add(rows);
///     const TransitionEstimate estimate = evidence.estimate();
///
/// The only road from rows to an estimate: the command, studies and bootstraps feed it. How rows
/// are cut into blocks does not change a bit of the result, nor does the number of threads.
class Evidence {
 public:
  /// Copies the model. Throws InvalidArgument when the estimator cannot take its sensors.
  Evidence(const EstimatorInfo& info, const AnyModel& model, const EvidenceOptions& options);
  Evidence(const Evidence& other);
  Evidence(Evidence&& other) noexcept;
  Evidence& operator=(Evidence other) noexcept;
  ~Evidence();

  [[nodiscard]] const EstimatorInfo& info() const { return *info_; }

  /// The rows to come belong to another run, which starts so; those that are open end.
  void start_run(RunStart start = {});
  /// The next rows of the last run, and of further ones where the block says so. Throws
  /// InvalidArgument on columns of different lengths, on actions and observations that the model
  /// does not have and propensities that are none (nothing has changed then), on missing
  /// propensities that are needed, and where the sensors rule an observation out.
  void add(const RowBlock& block);

  /// Several runs may be open at once. Runs are numbered in the order in which they begin; the
  /// result is that of run after run. Each open run takes as much memory as all that have ended;
  /// where the estimator cannot merge, rows of all but the first are kept until the runs before
  /// them end.
  void add(std::int64_t run, const RowBlock& block);
  void end_run(std::int64_t run);

  /// All rows of a source, each of whose parts starts a run; parts are read at the same time where
  /// the estimator can. Where the table says that it reads twice or again, the source must outlive
  /// this value and its copies. With a team all ranks call it; then rank 0 knows all rows, and the
  /// others help(). Where the work cannot be shared, rank 0 reads alone and says so.
  void read(RowSource& source, Parallelism parallelism = {});
  /// Another rank's part in what rank 0 asks of its evidence after read(), which must be told the
  /// same team. Throws Dismissed at the end; returns when rank 0 calls release(), which is before
  /// the team is asked for anything else.
  void help(Parallelism parallelism);
  static void release(Team& team);

  /// Takes in the runs of `other` as if they followed: to the bit, error bars included. Throws
  /// InvalidArgument when it was made otherwise or for another first run than runs(), where the
  /// estimator reads in order, and with weights by age.
  void merge(const Evidence& other);

  /// An estimator of the same make that has seen nothing. To be merged it must know how many runs
  /// there are before its first one.
  [[nodiscard]] Evidence fresh(std::int64_t first_run = 0) const;
  /// Runs so far, those before the first one included.
  [[nodiscard]] std::int64_t runs() const { return runs_; }

  /// From all rows so far; more may follow.
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options = {}) const;
  /// Adds to an estimate what speaks against it: does the log fit the sensors? Likelihood only;
  /// about as dear as a pass, and as another estimate when it does not fit.
  void check(const EstimateOptions& options, TransitionEstimate& estimate) const;

  /// Block bootstrap: estimates [a][s][s'] from stretches of the rows drawn with replacement. These
  /// throw InvalidArgument on an estimate of other sizes and on evidence of another make.
  [[nodiscard]] Resampled resample(const TransitionEstimate& estimate,
                                   const EstimateOptions& options,
                                   const BootstrapOptions& bootstrap) const;
  /// The estimate [a][s][s'] of a bootstrap from `simulated`, one of the same make.
  [[nodiscard]] std::vector<double> again(const Evidence& simulated,
                                          const TransitionEstimate& estimate,
                                          const EstimateOptions& options) const;
  /// The moments that an estimate is made of. Throws InvalidArgument where it is not.
  [[nodiscard]] MomentSeries moments() const;
  /// The rows themselves, where they are kept; none: they are not.
  [[nodiscard]] std::optional<StoredRows> rows() const;

  /// Bytes with format, estimator, fingerprint of model and options, and checksum; load() into a
  /// value of the same make goes on to the bit. It throws InvalidArgument on bytes that are damaged
  /// or of another make, and has changed nothing then.
  [[nodiscard]] std::string save() const;
  void load(std::string_view bytes);

 private:
  // What is known of a run that must wait for those before it.
  struct Waiting;

  void check_estimate(const TransitionEstimate& estimate) const;
  // The body with all rows that wait; a copy where some do.
  [[nodiscard]] std::shared_ptr<const detail::EvidenceBody> whole() const;
  [[nodiscard]] bool last_is_open() const;
  void advance();
  [[nodiscard]] bool comes_together(Parallelism& parallelism) const;

  // What rows must keep to.
  struct Sizes {
    int states = 0;
    int actions = 0;
    int observations = 0;
    void check(const RowBlock& block) const;
  };

  Evidence(const EstimatorInfo* info, Sizes sizes, std::unique_ptr<detail::EvidenceBody> body,
           std::uint64_t fingerprint, std::int64_t first_run);
  static Sizes sizes_of(const AnyModel& model);

  const EstimatorInfo* info_;
  Sizes sizes_;
  std::unique_ptr<detail::EvidenceBody> body_;
  std::uint64_t fingerprint_;  // of model and options
  std::int64_t runs_;          // begun so far, those before the first one included
  std::int64_t run_ = -1;      // whose rows body_ takes; -1: none
  std::int64_t last_run_ = -1;
  RunStart next_start_;           // of the run that begins next
  std::vector<Waiting> waiting_;  // in the order of runs
};

/// The estimator of that name for the sensors of `model`; its transition is not looked at. Throws
/// InvalidArgument on an unknown name, on options that are wrong, and on sensors it cannot take.
[[nodiscard]] Evidence make_evidence(std::string_view name, const AnyModel& model,
                                     const EvidenceOptions& options = {});

/// The same with settings as people write them; one that the estimator does not look at throws.
[[nodiscard]] Evidence make_evidence(std::string_view name, const AnyModel& model,
                                     std::span<const Setting> settings);

}  // namespace oas
