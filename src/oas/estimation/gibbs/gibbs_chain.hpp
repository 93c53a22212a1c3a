#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/gibbs/path_sampler.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// What is believed beforehand of an entry of T on its own: Beta(hit, miss).
struct EntryPrior {
  double hit;
  double miss;  ///< 0: the entry is 1, there is no other

  /// Draws it after so many transitions of its row, `hits` of them its own.
  [[nodiscard]] double sample(double hits, double visits, Rng& rng) const;
};

/// What one chain kept.
struct GibbsDraws {
  std::vector<double> transition;  ///< [draw][a][s][s']
  std::vector<double> entries;     ///< the same, each entry by itself: rows need not sum to 1
  std::vector<double> counts;      ///< [a][s][s']: transitions on the paths, summed over draws
  std::vector<int> never;          ///< [a][s][s']: draws whose paths have no such transition
  std::vector<int> always;         ///< and those whose paths have no other of the row
  bool impossible = false;         ///< no path explains the rows
};

/// Draws paths given T and T given paths, in turns.
class GibbsChain {
 public:
  static constexpr int kWarmUp = 2;  ///< one draw is thrown away for so many that are kept

  /// Starts at a draw from Dirichlet(prior, …, prior). `rows` must outlive it.
  GibbsChain(const TransitionLikelihood& rows, double prior, EntryPrior entry_prior, Rng rng,
             Rng entry_rng);

  [[nodiscard]] GibbsDraws run(std::size_t keep, const RowsRead& progress);

 private:
  void draw_transition();
  void keep_entries(GibbsDraws& draws);

  const TransitionLikelihood& rows_;
  double prior_;  // of every entry of a row that is drawn
  EntryPrior entry_prior_;
  Rng rng_;
  Rng entry_rng_;
  PathSampler sampler_;
  std::vector<double> counts_;
  std::vector<double> transition_;
};

}  // namespace oas::detail
