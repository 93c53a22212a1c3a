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

/// Coordinates that a departure is looked for in together: all, a row of T, a sensor direction.
struct ScoreBlock {
  std::vector<Eigen::Index> coordinates;  ///< among those of the part
  int dimensions = 0;                     ///< directions of which the log knows enough
  double degrees = 0.0;                   ///< of freedom, where the model is true
};

/// The result of a test of scores.
struct ScoreTest {
  /// Evidence against the model: the largest over blocks and places of -log10 of a chi-square's
  /// tail, as if there were one block and one place.
  double statistic = 0.0;
  /// Share of replicates that are at least as large, the log counted as one of them; NaN when there
  /// is nothing to test: one cell, or no direction of which the log knows anything.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  int dimensions = 0;        ///< directions of which the log knows enough
  std::vector<double> path;  ///< by cell: evidence for a split behind it, or the cell's part
  int split = 0;             ///< of a change: cells before it
  /// Of a change, by cell: about twice the log-likelihood that a split behind it gains when both
  /// sides are fitted; 0 where none is looked for.
  std::vector<double> gain;
  std::size_t block = 0;           ///< which speaks most against the model
  std::vector<ScoreBlock> blocks;  ///< the first: all
  std::vector<double> null;        ///< of the replicates, ascending

  [[nodiscard]] bool tested() const { return p_value == p_value; }
  /// The value that a replicate exceeds with probability `level`.
  [[nodiscard]] double critical(double level) const;
  /// The noncentrality of a chi-square with so many degrees of freedom whose evidence exceeds
  /// critical(level) with probability `power`: how large a departure must be to be shown that
  /// often.
  [[nodiscard]] double noncentrality(double degrees, double level, double power) const;
  /// The same for a departure in one coordinate of the part, by the block that shows it best.
  [[nodiscard]] double noncentrality_of(Eigen::Index coordinate, double level, double power) const;
};

/// How the coordinates of scores are laid out: first those of the dynamics, with the row of T (in
/// its stratum) that each is of, then the sensor directions.
struct ScoreLayout {
  Eigen::Index dynamics = 0;
  std::vector<int> row_of;  ///< [coordinate of the dynamics]
};

/// Did the scores change from cell to cell of a cut, in the order of the cells? With W the running
/// sum of the scores of a block, whitened by their information, and τ the share of the information,
/// ‖W‖²/(τ(1-τ)) over 0.15 <= τ <= 0.85 (in short logs less, so that there are three rows for each
/// direction beside a split) is the Lagrange multiplier statistic of Andrews (1993)
/// where information comes evenly; its chi-square tail is the evidence of that block at that place.
/// That the dynamics were fitted to the same rows is allowed for, in replicates as in the log, to
/// first order: S - I_cell,T I_TT⁻¹ S_T.
[[nodiscard]] ScoreTest test_change(const ScoreTally& tally, std::size_t cut, ScorePart part,
                                    const ScoreLayout& layout);

/// Do the cells of a cut differ? Of each block cells · Σ ‖W_cell‖², the locally best test of cells
/// that differ at random.
[[nodiscard]] ScoreTest test_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                                   const ScoreLayout& layout);

/// Is the sum of all scores 0, as it is when nothing was fitted to them? Its square, whitened.
[[nodiscard]] ScoreTest test_sum(const ScoreTally& tally);

/// [cell][direction]: W_cell/√τ_cell of test_cells(), of about unit variance where cells agree.
[[nodiscard]] Matrix standardised_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                                        const ScoreLayout& layout);

/// By coordinate of `part`: information about it, with what is not looked at held or allowed for as
/// the part says; 0 where the log knows too little.
[[nodiscard]] Vector information_of(const ScoreTally& tally, ScorePart part,
                                    const ScoreLayout& layout);

}  // namespace oas
