#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/estimation/gibbs/posterior_draws.hpp"
#include "oas/estimation/gibbs/transition_prior.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// Chains of a group, and draws of the streams that each of them has for itself.
inline constexpr std::size_t kChains = 4;
inline constexpr std::uint64_t kDrawsOfChain = std::uint64_t{1} << 56;

/// Expected transitions that it takes for a row to be determined.
inline constexpr double kOneVisit = 1.0;

/// What became of a group of chains.
enum class ChainsEnd {
  met,         ///< all draw the rows of T that were left from the same distribution
  apart,       ///< not so, when patience ended
  impossible,  ///< no path explains the rows
};

/// Lets all chains go on until they agree or have made `patience` times the draws that they keep:
/// the distance between draws that are kept is doubled until then.
[[nodiscard]] ChainsEnd draw_until_met(std::vector<GibbsChain>& chains,
                                       const TransitionPrior& prior, std::size_t keep,
                                       std::size_t patience, Parallelism parallelism,
                                       const RowsRead& progress);

/// Draws of T of all chains, which must outlive them.
[[nodiscard]] PosteriorDraws transitions_of(const std::vector<GibbsChain>& chains,
                                            std::size_t entries);

/// [row]: mean number of transitions on the paths that tell the row.
[[nodiscard]] std::vector<double> telling_visits(const std::vector<GibbsChain>& chains,
                                                 const TransitionPrior& prior);

/// Whether the chains draw the row from the same distribution.
[[nodiscard]] bool agree(const PosteriorDraws& posterior, const TransitionPrior& prior,
                         std::size_t row);

}  // namespace oas::detail
