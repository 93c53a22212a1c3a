#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/core/index.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

/// All rows of one run of a log.
struct LoggedRun {
  std::vector<Action> actions;
  std::vector<Observation> observations;
  std::vector<double> rewards;      ///< NaN in rows that fill a gap; empty: the log has none
  std::vector<double> readings;     ///< [row][component], where observations are real-valued
  std::vector<double> likelihoods;  ///< [row][state], then or where states are known
  std::vector<State> known;         ///< as LogBlock has it; empty: not looked at
  std::vector<double> times;        ///< empty: the log has none
  std::string unit;                 ///< as the log calls it; else a number, counted from 0
  std::int64_t first_step = 0;      ///< not 0 where a unit goes on after a gap
  RunStart start;
  /// The last row is the last action of rows that are reading-first, of which nothing was seen.
  bool last_action = false;
  bool is_more = false;  ///< these rows follow those of the piece before, in the same run

  /// Whether this is a later part of a unit that was cut at a gap. Parts follow each other.
  [[nodiscard]] bool goes_on() const { return first_step > 0; }

  /// Rows as the log counts them.
  [[nodiscard]] std::int64_t rows() const {
    const auto size = static_cast<std::int64_t>(actions.size());
    if (is_more) return size - (last_action ? 1 : 0);
    return size + (start.first() != nullptr && !last_action ? 1 : 0);
  }
};

/// The belief after a run, and how many of its observations the model rules out; these are skipped.
struct FilteredRun {
  std::vector<double> belief;
  std::int64_t impossible = 0;
};

/// Filters a run. `visit`, if any, is called for every row with the belief before it. `finite`:
/// observations are those of the model; else, and where states are known, rows bring likelihoods.
FilteredRun filter_run(const Pomdp& chain, bool finite, const LoggedRun& run,
                       const std::function<void(std::size_t, std::span<const double>)>& visit = {});

/// The same of runs that come in pieces, one after the other, under a model that outlives it.
class PieceFilter {
 public:
  PieceFilter(const Pomdp& chain, bool finite) : chain_(chain), finite_(finite) {}
  /// How many observations of this piece are impossible.
  std::int64_t walk(const LoggedRun& piece,
                    const std::function<void(std::size_t, std::span<const double>)>& visit);
  /// After the last piece.
  [[nodiscard]] std::span<const double> belief() const {
    return exact_ ? exact_->belief() : brought_->belief();
  }

 private:
  const Pomdp& chain_;
  bool finite_;
  std::optional<BeliefFilter> exact_;  // of the run, unless it brings likelihoods
  std::optional<LikelihoodFilter> brought_;
};

/// Reads with LogRows::all. Calls `receive` with each run, when all its rows are there; they are
/// held one at a time. The parts of a unit that was cut at a gap have one name. Longer runs come in
/// pieces of `most_rows` rows (LoggedRun::is_more), the last of which may have none.
void for_each_run(LogReader& reader, const std::function<void(const LoggedRun& run)>& receive,
                  std::size_t most_rows = std::numeric_limits<std::size_t>::max());

}  // namespace oas
