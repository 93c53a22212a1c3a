#include "oas/estimation/gibbs/posterior_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "oas/core/sampling.hpp"
#include "oas/estimation/gibbs/chain_group.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/estimation/gibbs/transition_prior.hpp"

namespace oas::detail {

namespace {

constexpr double kScatter = 1.5;          // of starts, in standard errors
constexpr double kLeastOfStart = 0.01;    // shared out over what is open in a row
constexpr std::size_t kLeastKept = 25;    // by each chain
constexpr double kMostWork = 5e9;         // multiplications or so
constexpr double kMostPatience = 64.0;    // draws are this far apart at most
constexpr double kDrawingOfState = 60.0;  // multiplications that it is worth
constexpr std::uint64_t kScatterOfChain = std::uint64_t{3} << 54;

double work_of_sweep(double rows, double states) {
  return rows * (states * states + kDrawingOfState);
}

// Sweeps of all chains with draws that are next to each other.
double shortest(std::size_t keep) {
  return static_cast<double>(kChains * (keep + keep / GibbsChain::kWarmUp));
}

// The estimate with errors; rows of which nothing is known are drawn evenly.
std::vector<double> scattered(const TransitionEstimate& estimate, const TransitionPrior& prior,
                              Rng rng) {
  const std::size_t n = prior.states();
  const auto values = estimate.transition.values();
  std::vector<double> start(values.begin(), values.end());
  for (std::size_t row = 0; row < prior.rows(); ++row) {
    if (prior.mass_left(row) == 0.0) continue;
    std::vector<std::size_t> open;
    for (std::size_t e = row * n; e < (row + 1) * n; ++e) {
      if (prior.is_free(e)) open.push_back(e);
    }
    const bool known = !estimate.standard_error.empty() &&
                       std::all_of(open.begin(), open.end(), [&](std::size_t e) {
                         return std::isfinite(estimate.standard_error[e]);
                       });
    double sum = 0.0;
    for (const std::size_t e : open) {
      if (known) {
        start[e] += kScatter * estimate.standard_error[e] * sample_normal(rng);
        start[e] = std::max(start[e], 0.0);
      } else {
        start[e] = sample_gamma(1.0, rng);
      }
      start[e] += kLeastOfStart * prior.mass_left(row) / static_cast<double>(open.size());
      sum += start[e];
    }
    for (const std::size_t e : open) start[e] *= prior.mass_left(row) / sum;
  }
  return start;
}

}  // namespace

bool can_draw_paths(std::int64_t rows, int num_states) {
  return shortest(2 * kLeastKept) * work_of_sweep(static_cast<double>(rows), num_states) <=
         kMostWork;
}

std::vector<double> draws_around(const TransitionLikelihood& rows, const PosteriorRun& how,
                                 TransitionEstimate& estimate) {
  const TransitionPrior prior(rows.num_states(), rows.num_actions(), how.structure,
                              how.concentration);
  const std::size_t keep = std::max((how.draws + kChains - 1) / kChains, kLeastKept);
  const double sweep = work_of_sweep(static_cast<double>(rows.rows()), rows.num_states());
  const double affordable = kMostWork / (shortest(keep) * sweep);
  const auto patience = static_cast<std::size_t>(std::clamp(affordable, 1.0, kMostPatience));
  std::vector<GibbsChain> chains;
  chains.reserve(kChains);
  for (std::size_t c = 0; c < kChains; ++c) {
    const std::vector<double> start =
        scattered(estimate, prior, Rng(how.stream, c * kDrawsOfChain + kScatterOfChain));
    chains.emplace_back(rows, prior, start, Rng(how.stream, c * kDrawsOfChain));
  }
  const ChainsEnd end =
      draw_until_met(chains, prior, keep, patience, how.parallelism, how.progress);
  if (end == ChainsEnd::impossible) return {};
  if (end == ChainsEnd::apart) {
    const bool cut_short = affordable < kMostPatience;  // they might have met
    if (cut_short && !estimate.draws.empty()) return {};
    estimate.warnings.push_back(
        "the draws that the estimate carries have not settled: limits of forecasts and plans are "
        "rough; gibbs draws for longer");
  }
  return transitions_of(chains, prior.entries()).some(how.draws);
}

}  // namespace oas::detail
