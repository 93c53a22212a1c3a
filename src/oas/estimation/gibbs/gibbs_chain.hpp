#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/gibbs/path_sampler.hpp"
#include "oas/estimation/gibbs/transition_prior.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// What one chain kept.
struct GibbsDraws {
  std::vector<double> transition;   ///< [draw][a][s][s']
  std::vector<double> counts;       ///< [draw][a][s][s']: transitions on the paths behind it
  std::vector<std::size_t> sweeps;  ///< [draw]: those of the chain up to it

  /// Only the draws after sweep `warm_up` whose number of sweeps is a multiple of `apart`.
  void thin(std::size_t apart, std::size_t warm_up);
};

/// Draws paths given T and T given paths, in turns: a sweep.
class GibbsChain {
 public:
  static constexpr std::size_t kWarmUp = 2;  ///< one draw is thrown away for so many that are kept

  /// Starts at a draw from the prior. `rows` and `prior` must outlive it.
  GibbsChain(const TransitionLikelihood& rows, const TransitionPrior& prior, Rng rng);
  /// Starts at `transition`, [a][s][s'].
  GibbsChain(const TransitionLikelihood& rows, const TransitionPrior& prior,
             std::span<const double> transition, Rng rng);

  /// Sweeps on until `keep` draws are there, one for each `apart` sweeps, after a warm-up of half
  /// as many. Called again with a multiple of `apart` it keeps what it would have kept had it been
  /// called so at first. False: no path explains the rows.
  [[nodiscard]] bool draw(std::size_t keep, std::size_t apart, const RowsRead& progress);

  [[nodiscard]] const GibbsDraws& draws() const { return draws_; }
  [[nodiscard]] std::size_t sweeps() const { return sweeps_; }

  /// One sweep. False: no path explains the rows; nothing has changed then.
  [[nodiscard]] bool sweep();
  /// Where the chain stands: [a][s][s'].
  [[nodiscard]] const std::vector<double>& transition() const { return transition_; }

 private:
  const TransitionLikelihood& rows_;
  const TransitionPrior& prior_;
  Rng rng_;
  PathSampler sampler_;
  std::vector<double> counts_;
  std::vector<double> transition_;
  std::size_t sweeps_ = 0;
  GibbsDraws draws_;
};

}  // namespace oas::detail
