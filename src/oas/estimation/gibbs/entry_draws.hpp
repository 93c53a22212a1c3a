#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/estimation/gibbs/posterior_draws.hpp"

namespace oas::detail {

/// Draws of each entry by itself, one for each draw of the paths.
struct EntryDraws {
  explicit EntryDraws(const TransitionPrior& prior);

  /// Those of one chain.
  void add(const GibbsDraws& draws, const TransitionPrior& prior, Rng rng);
  [[nodiscard]] PosteriorDraws posterior() const;
  [[nodiscard]] std::size_t size() const { return never.size(); }

  std::vector<std::vector<double>> chains;  ///< [chain][draw][a][s][s']: rows need not sum to 1
  std::vector<int> never;      ///< [a][s][s']: draws whose paths have no such transition
  std::vector<int> always;     ///< and those whose paths have no other that the row leaves open
  std::vector<double> visits;  ///< [a][s]: transitions of the row, summed over draws
};

}  // namespace oas::detail
