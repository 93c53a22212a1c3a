#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// Which rows count, and which entries of T.
struct FisherOptions {
  std::size_t skip = 1024;      ///< rows at the beginning, which know the start
  std::vector<char> held = {};  ///< [a][s][s']: entries that are no coordinates; empty: none
};

/// Information about free coordinates of T: in each row every entry but the largest, which takes up
/// what the others leave.
struct FisherInformation {
  Matrix matrix;                     ///< d×d
  Vector score;                      ///< [d]: Σ_t u_t, noise around 0 where nothing is ruled out
  std::vector<std::size_t> entries;  ///< [d], places in [a][s][s']
  std::vector<std::size_t> references;  ///< [d]: the entry that takes up changes
  std::size_t num_entries = 0;          ///< A S²
  double steps = 0.0;                   ///< rows that it is the information of

  /// Changes of all entries [a][s][s'] for changes of the coordinates, column by column.
  [[nodiscard]] Matrix expand(const Eigen::Ref<const Matrix>& columns) const;
};

/// Σ_t u_t u_tᵀ with u_t = ∂ log P(o_t | rows before, a_t) / ∂ coordinate at `at`, over the rows of
/// one run: an unbiased estimate of the Fisher information of so many rows when the log was made
/// under `at`, whatever the policy, since the u_t are martingale differences. A direction along
/// which the law of what is seen does not change has u_t = 0, step by step, once the start is
/// forgotten. Forward sensitivities of the filter: O(d (S² + d)) per row. Entries of `at` that are
/// 0 are no coordinates. Throws InvalidArgument on an observation that cannot happen.
[[nodiscard]] FisherInformation fisher_information(const Pomdp& model, const TransitionModel& at,
                                                   const Trajectory& rows,
                                                   const FisherOptions& options = {});

}  // namespace oas
