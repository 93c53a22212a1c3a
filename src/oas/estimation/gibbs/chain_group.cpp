#include "oas/estimation/gibbs/chain_group.hpp"

#include <algorithm>
#include <array>

namespace oas::detail {

namespace {

constexpr double kApart = 1.1;  // R-hat of chains that have not met

bool all_agree(const std::vector<GibbsChain>& chains, const TransitionPrior& prior) {
  const PosteriorDraws posterior = transitions_of(chains, prior.entries());
  const std::vector<double> visits = telling_visits(chains, prior);
  for (std::size_t row = 0; row < prior.rows(); ++row) {
    if (visits[row] >= kOneVisit && !agree(posterior, prior, row)) return false;
  }
  return true;
}

}  // namespace

ChainsEnd draw_until_met(std::vector<GibbsChain>& chains, const TransitionPrior& prior,
                         std::size_t keep, std::size_t patience, Parallelism parallelism,
                         const RowsRead& progress) {
  for (std::size_t apart = 1;; apart *= 2) {
    std::vector<char> possible(chains.size());
    parallel_for(chains.size(), parallelism, [&](std::size_t c) {
      possible[c] = static_cast<char>(chains[c].draw(keep, apart, progress));
    });
    if (std::find(possible.begin(), possible.end(), 0) != possible.end()) {
      return ChainsEnd::impossible;
    }
    if (all_agree(chains, prior)) return ChainsEnd::met;
    if (2 * apart > patience) return ChainsEnd::apart;
  }
}

PosteriorDraws transitions_of(const std::vector<GibbsChain>& chains, std::size_t entries) {
  std::vector<std::span<const double>> draws;
  for (const GibbsChain& chain : chains) draws.emplace_back(chain.draws().transition);
  return {std::move(draws), entries};
}

std::vector<double> telling_visits(const std::vector<GibbsChain>& chains,
                                   const TransitionPrior& prior) {
  std::vector<double> visits(prior.rows(), 0.0);
  std::vector<double> pooled(prior.entries());
  double draws = 0.0;
  for (const GibbsChain& chain : chains) {
    const std::span<const double> counts(chain.draws().counts);
    for (std::size_t first = 0; first < counts.size(); first += prior.entries()) {
      prior.pool(counts.subspan(first, prior.entries()), pooled);
      for (std::size_t e = 0; e < pooled.size(); ++e) visits[e / prior.states()] += pooled[e];
      ++draws;
    }
  }
  for (std::size_t row = 0; row < visits.size(); ++row) {
    visits[row] = prior.leader(row) == row ? visits[row] / draws : visits[prior.leader(row)];
  }
  return visits;
}

bool agree(const PosteriorDraws& posterior, const TransitionPrior& prior, std::size_t row) {
  for (std::size_t e = row * prior.states(); e < (row + 1) * prior.states(); ++e) {
    if (prior.is_free(e) && posterior.disagreement(e) > kApart) return false;
  }
  return true;
}

}  // namespace oas::detail
