#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// Coordinates of the set of transition models around one of them: in each row every entry but the
/// largest, which takes up what the others leave. Derivatives by them are differences of two
/// entries of LikelihoodPass::score.
class FreeCoordinates {
 public:
  /// Entries for which `held` is set (empty: none) are no coordinates; neither are entries that are
  /// exactly 0, which are part of a known structure.
  explicit FreeCoordinates(const TransitionModel& at, const std::vector<char>& held = {});

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(entries_.size()); }
  [[nodiscard]] std::size_t entry(Eigen::Index i) const {
    return entries_[static_cast<std::size_t>(i)];
  }
  /// The entry that takes up changes of entry(i).
  [[nodiscard]] std::size_t reference(Eigen::Index i) const {
    return references_[static_cast<std::size_t>(i)];
  }

  /// Derivatives from a table [a][s][s'] of derivatives by entries.
  [[nodiscard]] Vector reduce(const double* table) const;

  /// Information by the spread of the batches' scores, Σ_b (g_b - n_b ḡ)(g_b - n_b ḡ)ᵀ.
  [[nodiscard]] Matrix batch_information(const LikelihoodPass& pass) const;
  /// Its diagonal, for less work.
  [[nodiscard]] Vector batch_diagonal(const LikelihoodPass& pass) const;

  /// Information if all states had been seen, for expected counts N of entries: of rows
  /// diag(N_i/T_i²) + N_r/T_r² 11ᵀ. What it has more than the observed one is lost by not seeing.
  [[nodiscard]] Matrix complete_information(const TransitionModel& at,
                                            const std::vector<double>& counts) const;

  /// Changes of all entries [a][s][s'] for changes of the coordinates, column by column.
  [[nodiscard]] Matrix expand(const Eigen::Ref<const Matrix>& columns) const;

 private:
  // [batch][coordinate]: g_b - n_b ḡ
  [[nodiscard]] Matrix batch_deviations(const LikelihoodPass& pass) const;

  std::size_t num_states_;
  std::size_t num_entries_;
  std::vector<std::size_t> entries_;
  std::vector<std::size_t> references_;
};

}  // namespace oas::detail
