#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "oas/core/index.hpp"
#include "oas/model/run_start.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// Consecutive rows as estimators take them: views of columns that somebody else keeps. What was
/// seen stands in `observations` (kMissing where nothing was). Rows of real-valued observations
/// have kMissing or 0 there and bring `readings` (NaN: a component that is missing), what they say
/// about the states in `likelihoods`, or both. Columns that are not there are empty.
struct RowBlock {
  std::span<const Action> actions;
  std::span<const Observation> observations;
  std::span<const double> propensities;     ///< π(a_t | history), in (0, 1]
  std::span<const double> readings;         ///< [row][component]
  std::span<const double> likelihoods;      ///< [row][state]: p(o | s, a) up to a factor per row
  std::span<const std::size_t> run_starts;  ///< rows at which a new run starts, ascending
  std::span<const RunStart> starts;         ///< of these runs; empty: all at the model's start

  RowBlock() = default;
  /// The rows of a trajectory, which must outlive it; no run starts.
  RowBlock(const Trajectory& rows)  // NOLINT(google-explicit-constructor): a view of the same rows
      : actions(rows.actions), observations(rows.observations), propensities(rows.propensities) {}

  [[nodiscard]] std::size_t size() const { return actions.size(); }

  /// Rows first … first+count-1, without run starts. Throws InvalidArgument where there are fewer.
  [[nodiscard]] RowBlock part(std::size_t first, std::size_t count) const;

  /// Throws InvalidArgument when columns differ in length or run starts do not ascend.
  void validate() const;
};

/// Calls start_run(RunStart), or start_run() of those who need only the cut, where a run starts in
/// a block, and add(rows) for the rows between.
template <class StartRun, class Add>
void by_runs(const RowBlock& block, const StartRun& start_run, const Add& add) {
  std::size_t start = 0;
  const auto add_until = [&](std::size_t end) {
    if (end > start) add(block.part(start, end - start));
    start = end;
  };
  for (std::size_t run = 0; run < block.run_starts.size(); ++run) {
    add_until(block.run_starts[run]);
    if constexpr (std::invocable<StartRun, RunStart>) {
      start_run(block.starts.empty() ? RunStart() : block.starts[run]);
    } else {
      start_run();
    }
  }
  add_until(block.size());
}

}  // namespace oas
