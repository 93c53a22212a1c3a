#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/closed_loop.hpp"

/// What could at best be learned from simulated logs of a model: the yardstick of the kind
/// `coverage`.
namespace oas {

/// How logs are made.
struct LogShape {
  PolicyOptions policy;
  std::size_t rows = 0;        ///< of a log
  std::size_t run_length = 0;  ///< a run ends after so many rows; 0: one run
  std::uint64_t seed = 1;
};

/// The runs of log number `log`, states included: run r of it is made by the streams (seed,
/// first + log · runs + r, ·), each from the model's start. `first` keeps sets of logs apart.
[[nodiscard]] std::vector<Trajectory> simulate_runs(const Pomdp& model, const LogShape& shape,
                                                    std::uint32_t log, std::uint32_t first = 0);

/// What really happened in a log.
struct LogFacts {
  std::vector<double> visits;       ///< [a][s]: transitions of (a,s) of which something is seen
  std::vector<double> transitions;  ///< [a][s][s']: of these, those whose end is a row's state
};
[[nodiscard]] LogFacts log_facts(const Pomdp& model, const std::vector<Trajectory>& runs);

/// Whether a log can tell a row of T.
enum class RowClass { undetermined, between, determined };

/// Standard errors that the Fisher information at the truth allows in logs of one shape.
struct CoverageReference {
  /// [a][s][s']: constrained Cramér-Rao errors: entries that are exactly 0 (or 1) are active
  /// constraints and are held; their error is 0.
  std::vector<double> limit;
  std::vector<double> visits;  ///< [a][s]: mean over logs
  /// [a][s]: largest error in the row to somebody who does not know which entries are 0: from logs
  /// of the model with 2 % of uniform mixed in, where there are zeros.
  std::vector<double> free_error;
  std::vector<double> free_visits;  ///< [a][s]: mean over these logs

  /// The class of row (a,s) in a log that visits it so often. Undetermined: never visited, or a
  /// free error above 10 (a direction without information). Determined: at least 20 visits, every
  /// limit below 0.05 and the free error below 0.25. Between: anything else; there an estimator may
  /// flag or not. Errors fall as 1/√visits.
  [[nodiscard]] RowClass classify(std::size_t row, double visits_in_log) const;
};

/// From some 8 logs or 40,000 rows, whichever is more; logs beyond 20,000 rows are extrapolated.
/// O(rows · d (S² + d)) with d = A S (S-1). Throws what the simulation throws.
[[nodiscard]] CoverageReference coverage_reference(const Pomdp& model, const LogShape& shape);

}  // namespace oas
