#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/parallel.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/row_source.hpp"

namespace oas {

namespace detail {
class KeptRows;
class RowWindows;
class TeamRows;
}  // namespace detail

/// Why a row that has probability 0 under a transition model without zeros cannot happen.
inline constexpr std::string_view kAnyTransition = "whatever the dynamics: the start rules it out";
/// And under one without other zeros than those of a structure.
inline constexpr std::string_view kAllowedTransition =
    "with the zeros and fixed entries of the structure";

/// Is shown rows of finite observations, with how their run starts where they start one, else null.
using ReceiveRow = std::function<void(Action, Observation, const RunStart* start)>;

/// The likelihood of rows as they come. They are kept in memory, 1 to 4 bytes each, with
/// real-valued observations 8 (S + 2) or so, as long as they fit; beyond, their source is read
/// again in every pass, window by window, in constant memory.
class RowLikelihood {
 public:
  /// Is shown every block of a source as it is read.
  using Block = std::function<void(const RowBlock& block)>;

  /// Rows of finite observations. `memory_limit`, in bytes, counts for read() only.
  RowLikelihood(const Pomdp& model, std::size_t memory_limit);
  /// Rows that bring likelihoods.
  RowLikelihood(const ContinuousPomdp& model, std::size_t memory_limit);
  /// The same; start and timing of `chain`.
  [[nodiscard]] static RowLikelihood with_vectors(const Pomdp& chain, std::size_t memory_limit);

  /// The next row belongs to a new run.
  void start_run(RunStart start = {});
  /// The next row belongs to a run whose first rows another one counts.
  void go_on();
  /// Rows of one run. Throws InvalidArgument on an observation that the sensors rule out, and when
  /// the rows before are not in memory.
  void add(const RowBlock& rows) { add(rows, nullptr, 0); }
  /// All rows of a source, which must outlive this object. Throws naming file and row on an
  /// observation that the sensors rule out, and InvalidArgument when rows that cannot be read twice
  /// (a pipe) do not fit into the memory. `also` may be empty.
  void read(RowSource& source, const Block& also);
  /// The rows of another one follow; both in memory.
  void append(const RowLikelihood& other);

  /// The same as read(), but only counts the rows, which go to `kept`.
  void count(RowSource& source, const Block& also, detail::KeptRows& kept);
  /// Counts as bytes, and of rows that follow, or go on in the last run.
  void save_counts(ByteWriter& out) const;
  void add_counts(ByteReader& in);
  /// Counts become rows: those of `source`, on rank 0 of a team that passes them.
  void share(RowSource& source, std::shared_ptr<const detail::TeamRows> team_rows);
  /// Null: there is no team.
  [[nodiscard]] const detail::TeamRows* team_rows() const { return team_rows_.get(); }
  [[nodiscard]] std::int64_t num_rows() const { return rows_; }

  [[nodiscard]] bool in_memory() const { return in_memory_; }
  /// Where the rows were read, if they were.
  [[nodiscard]] RowSource* source() const { return source_; }
  /// All rows, while they are in memory.
  [[nodiscard]] const TransitionLikelihood& stored() const { return likelihood_; }
  [[nodiscard]] std::size_t memory_limit() const { return memory_limit_; }

  /// One pass over all rows, to the bit the same in memory and from files. Throws IoError when a
  /// file has changed since it was read first.
  [[nodiscard]] LikelihoodPass pass(const TransitionModel& transition, const PassOptions& options,
                                    Parallelism parallelism) const;

  /// Throws naming the first row that has probability 0 after those before it, "cannot happen"
  /// followed by `why`.
  void require_possible(const TransitionModel& transition, std::string_view why,
                        Parallelism parallelism) const;

  /// Every row in order, or the first `most` of them; real-valued observations are kMissing.
  void visit_rows(const ReceiveRow& receive,
                  std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;

  [[nodiscard]] RunLengths run_lengths() const;

  /// For the estimators; this object must outlive it. `progress` is told the rows of every pass in
  /// memory.
  [[nodiscard]] LikelihoodRows rows(Parallelism parallelism, RowsRead progress = {}) const;

  /// Rows in memory, as bytes. load() takes the place of all rows; it throws InvalidArgument.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  friend class detail::TeamRows;

  RowLikelihood(TransitionLikelihood likelihood, std::size_t memory_limit);

  // Calls receive(rows, row, start) for every row, row `row` of `rows`, until it returns false.
  template <class Receive>
  void visit(const Receive& receive) const;
  // Rows first, first + 1, … of the last block of a source, if there is one.
  void add(const RowBlock& rows, const RowSource* from, std::size_t first);
  void append_row(const RowBlock& rows, std::size_t t);
  void end_run();
  void read_blocks(RowSource& source, const Block& also, detail::KeptRows* kept);
  [[nodiscard]] std::unique_ptr<detail::RowWindows> windows() const;
  [[nodiscard]] std::int64_t rows_behind(std::int64_t done, const Forgetting& forgetting) const;

  std::size_t memory_limit_;
  RowSource* source_ = nullptr;
  TransitionLikelihood likelihood_;  // all rows, or empty
  Labels actions_;                   // for messages
  Labels observations_;
  bool vectors_ = false;
  bool in_memory_ = true;
  std::int64_t rows_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t missing_ = 0;
  std::vector<std::int64_t> transitions_;  // [a], but for the last row of the last run
  RunLengths run_lengths_;                 // of the runs that ended
  std::vector<std::int64_t> run_ends_;     // [window]: end of the run that its last row is of
  std::int64_t run_end_ = 0;               // end of the last run that ended
  std::int64_t run_rows_ = 0;              // and rows behind it
  bool new_run_ = true;
  bool goes_on_ = false;  // the first run began elsewhere
  RunStart next_start_;
  std::optional<Action> last_;                         // of the row before, in the same run
  std::shared_ptr<const detail::TeamRows> team_rows_;  // null: no team
};

}  // namespace oas
