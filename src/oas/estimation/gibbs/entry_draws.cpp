#include "oas/estimation/gibbs/entry_draws.hpp"

#include <numeric>
#include <span>

namespace oas::detail {

EntryDraws::EntryDraws(const TransitionPrior& prior) {
  visits.assign(prior.rows(), 0.0);
  never.assign(prior.entries(), 0);
  always = never;
}

void EntryDraws::add(const GibbsDraws& draws, const TransitionPrior& prior, Rng rng) {
  const std::size_t states = prior.states();
  std::vector<double>& values = chains.emplace_back(draws.counts.size());
  std::vector<double> pooled(prior.entries());
  const auto sum_of = [&](std::span<const double> counts, std::size_t row) {
    const auto part = counts.subspan(row * states, states);
    return std::accumulate(part.begin(), part.end(), 0.0);
  };
  for (std::size_t first = 0; first < values.size(); first += prior.entries()) {
    const auto counts = std::span(draws.counts).subspan(first, prior.entries());
    const auto drawn = std::span(values).subspan(first, prior.entries());
    prior.pool(counts, pooled);
    for (std::size_t row = 0; row < prior.rows(); ++row) {
      const std::size_t leader = prior.leader(row);
      const double sum = sum_of(pooled, leader);
      visits[row] += sum_of(counts, row);
      for (std::size_t j = 0; j < states; ++j) {
        const std::size_t e = row * states + j;
        const double hits = pooled[leader * states + j];
        never[e] += static_cast<int>(hits == 0.0);
        always[e] += static_cast<int>(hits == sum);
        if (!prior.is_free(e)) {
          drawn[e] = prior.fixed_value(e);
        } else {
          drawn[e] = leader == row ? prior.mass_left(row) * prior.draw_entry(row, hits, sum, rng)
                                   : drawn[leader * states + j];
        }
      }
    }
  }
}

PosteriorDraws EntryDraws::posterior() const {
  return {std::vector<std::span<const double>>(chains.begin(), chains.end()), never.size()};
}

}  // namespace oas::detail
