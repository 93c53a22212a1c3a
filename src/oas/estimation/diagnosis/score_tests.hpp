#pragma once

#include <limits>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/diagnosis/score_tally.hpp"

namespace oas {

/// Which coordinates a test of scores looks at.
enum class ScorePart {
  dynamics,               ///< as if the sensors were known and stayed as they are
  sensors,                ///< what the dynamics, constant ones, do not explain
  dynamics_beside_drift,  ///< what a change of the sensors does not explain, to first order
};

/// The result of a test of scores.
struct ScoreTest {
  double statistic = 0.0;
  /// Share of replicates that are at least as large, the log counted as one of them; NaN when there
  /// is nothing to test: one cell, or no direction of which the log knows anything.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  int dimensions = 0;         ///< directions of which the log knows enough
  std::vector<double> path;   ///< by cell: the statistic of a split behind it, or the cell's part
  std::vector<double> share;  ///< by cell: of the information, in it
  int split = 0;              ///< of a change: cells before it
  std::vector<double> null;   ///< of the replicates, ascending

  [[nodiscard]] bool tested() const { return p_value == p_value; }
  /// The value that a replicate exceeds with probability `level`.
  [[nodiscard]] double critical(double level) const;
  /// The noncentrality of a chi-square with `degrees` degrees of freedom that exceeds critical
  /// (level) with probability `power`: how large a departure must be to be shown that often.
  [[nodiscard]] double noncentrality(double degrees, double level, double power) const;
};

/// Did the scores change from cell to cell of a cut, in the order of the cells? With W the running
/// sum of the scores of these coordinates, whitened by their information, and τ the share of the
/// information, the statistic is the largest ‖W‖²/(τ(1-τ)) over 0.05 <= τ <= 0.95 (the Lagrange
/// multiplier statistic of Andrews 1993 where information comes evenly). That the dynamics were
/// fitted to the same rows is allowed for, in replicates as in the log, to first order:
/// S - I_cell,T I_TT⁻¹ S_T. `dynamics` coordinates come first.
[[nodiscard]] ScoreTest test_change(const ScoreTally& tally, std::size_t cut, ScorePart part,
                                    Eigen::Index dynamics);

/// Do the cells of a cut differ? Σ ‖W_cell‖²/τ_cell.
[[nodiscard]] ScoreTest test_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                                   Eigen::Index dynamics);

/// Is the sum of all scores 0, as it is when nothing was fitted to them? Its square, whitened.
[[nodiscard]] ScoreTest test_sum(const ScoreTally& tally);

/// [cell][direction]: W_cell/√τ_cell of test_cells(), of about unit variance where cells agree.
[[nodiscard]] Matrix standardised_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                                        Eigen::Index dynamics);

/// By coordinate of `part`: information about it, with what is not looked at held or allowed for as
/// the part says; 0 where the log knows too little.
[[nodiscard]] Vector information_of(const ScoreTally& tally, ScorePart part, Eigen::Index dynamics);

}  // namespace oas
