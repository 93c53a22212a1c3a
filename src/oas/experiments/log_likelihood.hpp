#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/experiments/log_estimation.hpp"
#include "oas/io/log_reader.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// Calls start_run() where a run starts in a block of a log, and add(first, count) for the rows
/// between.
template <class StartRun, class Add>
void by_runs(const LogBlock& block, const StartRun& start_run, const Add& add) {
  std::size_t start = 0;
  const auto add_until = [&](std::size_t end) {
    if (end > start) add(start, end - start);
    start = end;
  };
  for (const std::size_t run_start : block.run_starts) {
    add_until(run_start);
    start_run();
  }
  add_until(block.rows.size());
}

/// Feeds one block of a log to a folder, run by run.
void fold_block(const LogBlock& block, std::span<const double> propensities, PairFolder& folder);

/// Is shown every block of a log as it is read, with the propensities of its rows, 1 where the log
/// has none.
using FoldBlock = std::function<void(const LogBlock& block, std::span<const double> propensities)>;

/// The likelihood of log files. Rows are kept in memory, 1 to 4 bytes each, with real-valued
/// observations 8 (S + 2) or so, as long as they fit; beyond, the files are read again in every
/// pass, window by window, in constant memory.
class LogLikelihood {
 public:
  /// Reads all files once, in the order given. `fold` (may be null) is told all rows too. Throws
  /// InvalidArgument naming file and row on an observation that the sensors rule out, and when a
  /// log that cannot be read twice (a pipe) does not fit into `memory_limit` bytes.
  LogLikelihood(const Pomdp& model, std::span<const std::string> paths, std::size_t memory_limit,
                PairFolder* fold, RowsRead progress);

  /// The same for real-valued observations, or for logs that bring likelihoods.
  LogLikelihood(const ContinuousPomdp& model, std::span<const std::string> paths,
                std::size_t memory_limit, const FoldBlock& fold, RowsRead progress);

  [[nodiscard]] bool in_memory() const { return in_memory_; }
  /// All rows, while they are in memory.
  [[nodiscard]] const TransitionLikelihood& stored() const { return likelihood_; }

  /// One pass over all rows; the same values in memory and from files, up to rounding. Throws
  /// IoError when a file has changed since it was read first.
  [[nodiscard]] LikelihoodPass pass(const TransitionModel& transition, const PassOptions& options,
                                    Parallelism parallelism) const;

  /// Every row in order, with whether it starts a run; real-valued observations are kMissing.
  void visit_rows(const std::function<void(Action, Observation, bool)>& receive) const;

  [[nodiscard]] const RunLengths& run_lengths() const { return run_lengths_; }

  /// For the estimators; this object must outlive it.
  [[nodiscard]] LikelihoodRows rows(Parallelism parallelism) const;

 private:
  class Windows;

  void read_all(const FoldBlock& fold, std::size_t memory_limit);
  void read_rows(const LogBlock& block, const std::string& path, long line);
  void end_run();

  std::function<LogReader(const std::string& path)> open_;
  const Pomdp* finite_ = nullptr;  // the names of observations that are ruled out
  std::vector<std::string> paths_;
  RowsRead progress_;
  TransitionLikelihood likelihood_;  // all rows, or empty
  bool in_memory_ = true;
  std::int64_t rows_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t missing_ = 0;
  std::vector<std::int64_t> transitions_;  // [a]
  RunLengths run_lengths_;
  std::vector<std::int64_t> run_ends_;  // [window]: end of the run that its last row is of
  std::int64_t run_end_ = 0;            // while reading: end of the last run
  std::int64_t run_rows_ = 0;           // and rows behind it
  std::optional<Action> last_;          // of the row before, in the same run
};

}  // namespace oas
