#include "oas/estimation/gibbs/gibbs_chain.hpp"

#include <array>
#include <numeric>
#include <span>

#include "oas/core/sampling.hpp"

namespace oas::detail {

double EntryPrior::sample(double hits, double visits, Rng& rng) const {
  if (miss == 0.0) return 1.0;
  std::array<double, 2> shares;
  sample_dirichlet(std::array{hit + hits, miss + visits - hits}, shares, rng);
  return shares[0];
}

GibbsChain::GibbsChain(const TransitionLikelihood& rows, double prior, EntryPrior entry_prior,
                       Rng rng, Rng entry_rng)
    : rows_(rows),
      prior_(prior),
      entry_prior_(entry_prior),
      rng_(rng),
      entry_rng_(entry_rng),
      sampler_(rows),
      counts_(static_cast<std::size_t>(rows.num_states() * rows.num_states() * rows.num_actions()),
              0.0),
      transition_(counts_.size()) {
  draw_transition();
}

GibbsDraws GibbsChain::run(std::size_t keep, const RowsRead& progress) {
  GibbsDraws draws;
  draws.counts.assign(counts_.size(), 0.0);
  draws.never.assign(counts_.size(), 0);
  draws.always.assign(counts_.size(), 0);
  draws.transition.reserve(keep * counts_.size());
  draws.entries.reserve(keep * counts_.size());
  for (std::size_t sweep = 0; sweep < keep + keep / kWarmUp; ++sweep) {
    draws.impossible = !sampler_.sample(transition_, rng_, counts_);
    if (draws.impossible) return draws;
    draw_transition();
    if (progress) progress(static_cast<std::int64_t>(rows_.rows()));
    if (sweep < keep / kWarmUp) continue;
    draws.transition.insert(draws.transition.end(), transition_.begin(), transition_.end());
    keep_entries(draws);
  }
  return draws;
}

void GibbsChain::draw_transition() {
  const auto states = static_cast<std::size_t>(rows_.num_states());
  std::vector<double> concentration(states);
  for (std::size_t first = 0; first < counts_.size(); first += states) {
    for (std::size_t j = 0; j < states; ++j) concentration[j] = prior_ + counts_[first + j];
    sample_dirichlet(concentration, std::span(transition_).subspan(first, states), rng_);
  }
}

void GibbsChain::keep_entries(GibbsDraws& draws) {
  const auto states = static_cast<std::size_t>(rows_.num_states());
  for (std::size_t first = 0; first < counts_.size(); first += states) {
    const auto row = std::span(counts_).subspan(first, states);
    const double visits = std::accumulate(row.begin(), row.end(), 0.0);
    for (std::size_t e = first; e < first + states; ++e) {
      draws.counts[e] += counts_[e];
      draws.never[e] += static_cast<int>(counts_[e] == 0.0);
      draws.always[e] += static_cast<int>(counts_[e] == visits);
      draws.entries.push_back(entry_prior_.sample(counts_[e], visits, entry_rng_));
    }
  }
}

}  // namespace oas::detail
