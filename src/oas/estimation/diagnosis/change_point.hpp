#pragma once

#include "oas/estimation/diagnosis/diagnosed_rows.hpp"

namespace oas {

/// Where the dynamics changed: between two rows in the order of their places.
struct ChangePoint {
  std::size_t rows_before = 0;  ///< in that order
  std::size_t lower = 0;        ///< limits of rows_before, confidence 95 %
  std::size_t upper = 0;
  FittedDynamics before;
  FittedDynamics after;
  double log_likelihood_gain = 0.0;  ///< over one model for all rows
};

/// Of a small change the log-likelihood falls on either side of its true place by an exponential
/// with mean 1; both falls are below this with probability 95 %: -log(1 - √0.95) (Siegmund 1988).
inline constexpr double kPlaceFall = 3.676;

/// The split of the rows, in order of their places, with the largest likelihood of one model before
/// and another one after it, sought from `guess` rows on. The limits hold all splits whose
/// log-likelihood is less than kPlaceFall below the largest, the dynamics of both sides held; that
/// these were fitted at the best split makes them a little narrow. `pooled` is of all rows.
[[nodiscard]] ChangePoint locate_change(const AnyModel& model, const DiagnosedRows& rows,
                                        std::size_t guess, const FittedDynamics& pooled,
                                        Parallelism parallelism);

/// Units in groups of equal dynamics.
struct UnitGroups {
  std::vector<int> of_unit;  ///< group of each, numbered in the order of their first units
  std::vector<FittedDynamics> dynamics;
  std::vector<double> margin;        ///< [unit]: log-likelihood above that of the next best group
  double log_likelihood_gain = 0.0;  ///< over one model for all units
  bool clear = false;  ///< worth their parameters: the gain exceeds what groups of noise would have
};

/// Groups by the likelihood: units go to the group whose dynamics explain them best, dynamics are
/// fitted to the groups, in turn. Started with two, by the direction in which `scores` (see
/// standardised_cells()) differ most; further ones while the log-likelihood rises by more than
/// ½ dimensions · log(rows) + units · log 2 each time (Schwarz 1978, and what it takes to say which
/// unit is where), up to kMostGroups. Where two groups do not reach that, they are still given, and
/// not clear.
inline constexpr int kMostGroups = 6;
[[nodiscard]] UnitGroups find_groups(const AnyModel& model, const DiagnosedRows& rows,
                                     const Matrix& scores, const FittedDynamics& pooled,
                                     Parallelism parallelism);

}  // namespace oas
