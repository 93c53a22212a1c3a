#include "oas/estimation/likelihood/structured_likelihood.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace oas {

namespace {

// Scores of R from those of T, both [a][s][s'].
void add_reduced(const TransitionStructure& structure, const double* scores, double* reduced) {
  const auto n = static_cast<std::size_t>(structure.num_states());
  const std::size_t rows = n * static_cast<std::size_t>(structure.num_actions());
  for (std::size_t row = 0; row < rows; ++row) {
    double* const to = reduced + structure.leader(row) * n;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t entry = row * n + i;
      if (structure.is_free(entry)) to[i] += structure.mass_left(row) * scores[entry];
    }
  }
}

LikelihoodPass reduced_pass(const TransitionStructure& structure, LikelihoodPass pass,
                            const TransitionModel& reduced) {
  const std::size_t size = pass.score.size();
  const auto n = static_cast<std::size_t>(structure.num_states());
  std::vector<double> score(size, 0.0);
  add_reduced(structure, pass.score.data(), score.data());
  std::vector<double> batches(pass.batch_scores.size(), 0.0);
  for (std::size_t first = 0; first < batches.size(); first += size) {
    add_reduced(structure, pass.batch_scores.data() + first, batches.data() + first);
  }
  // A row without free coordinates must not look as if it had never been visited: it is no row of
  // its own.
  for (std::size_t row = 0; row * n < size; ++row) {
    if (structure.leader(row) == row && structure.mass_left(row) > 0.0) continue;
    double visits = 0.0;
    const std::size_t from = structure.leader(row) * n;
    for (std::size_t i = from; i < from + n; ++i) visits += pass.counts[i];
    score[row * n] = structure.mass_left(row) > 0.0 ? visits : 1.0;
  }
  pass.score = std::move(score);
  pass.batch_scores = std::move(batches);
  for (std::size_t i = 0; i < size; ++i) pass.counts[i] = reduced.values()[i] * pass.score[i];
  return pass;
}

// All rows that are led by the given ones.
std::vector<std::size_t> followers(const TransitionStructure& structure,
                                   const std::vector<std::size_t>& leaders) {
  std::vector<std::size_t> rows;
  const auto count = static_cast<std::size_t>(structure.num_states() * structure.num_actions());
  for (std::size_t row = 0; row < count && !leaders.empty(); ++row) {
    const bool led =
        std::find(leaders.begin(), leaders.end(), structure.leader(row)) != leaders.end();
    if (led) rows.push_back(row);
  }
  return rows;
}

// Known zeros of T from those of the structure and of R.
std::shared_ptr<const std::vector<char>> joined(const TransitionStructure& structure,
                                                std::vector<char> zeros,
                                                const std::vector<char>& reduced) {
  const auto n = static_cast<std::size_t>(structure.num_states());
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    if (structure.is_free(i) && reduced[structure.leader(i / n) * n + i % n] != 0) zeros[i] = 1;
  }
  return std::make_shared<const std::vector<char>>(std::move(zeros));
}

// Draws of R become draws of T.
void expand_draws(const TransitionStructure& structure, std::vector<double>& draws) {
  const int n = structure.num_states();
  const std::size_t entries = static_cast<std::size_t>(structure.num_actions() * n * n);
  for (std::size_t first = 0; first < draws.size(); first += entries) {
    const auto at = draws.begin() + static_cast<std::ptrdiff_t>(first);
    const TransitionModel drawn = structure.expand(
        TransitionModel(n, structure.num_actions(),
                        std::vector(at, at + static_cast<std::ptrdiff_t>(entries)), "draw"));
    std::copy(drawn.values().begin(), drawn.values().end(), at);
  }
}

}  // namespace

LikelihoodFunction reduced_likelihood(const TransitionStructure& structure,
                                      LikelihoodFunction likelihood) {
  std::vector<char> zeros;
  const auto n = static_cast<std::size_t>(structure.num_states());
  const std::size_t rows = n * static_cast<std::size_t>(structure.num_actions());
  for (std::size_t i = 0; i < rows * n; ++i) {
    zeros.push_back(!structure.is_free(i) && structure.fixed_value(i) == 0.0);
  }
  return [&structure, likelihood = std::move(likelihood),
          known = std::make_shared<const std::vector<char>>(std::move(zeros))](
             const TransitionModel& reduced, const PassOptions& options) {
    PassOptions with = options;
    with.known_zeros =
        options.known_zeros ? joined(structure, *known, *options.known_zeros) : known;
    with.never_left = followers(structure, options.never_left);
    return reduced_pass(structure, likelihood(structure.expand(reduced), with), reduced);
  };
}

void expand_estimate(const TransitionStructure& structure, const std::vector<double>& visits,
                     TransitionEstimate& estimate) {
  const auto n = static_cast<std::size_t>(structure.num_states());
  estimate.structure = structure.brief();
  estimate.visits = visits;
  estimate.transition = structure.expand(estimate.transition);
  const std::vector<FlaggedRow> flagged = std::exchange(estimate.flagged, {});
  const auto pass_on = [&](std::size_t row) {
    const auto leader = static_cast<int>(structure.leader(row));
    const int states = structure.num_states();
    for (const FlaggedRow& one : flagged) {
      if (one.action != leader / states || one.state != leader % states) continue;
      const auto index = static_cast<int>(row);
      estimate.flagged.push_back({Action{index / states}, State{index % states}, one.reason});
      return;
    }
  };
  for (std::size_t row = 0; row < visits.size(); ++row) {
    if (structure.mass_left(row) > 0.0) pass_on(row);
  }
  expand_draws(structure, estimate.draws);
  if (estimate.standard_error.empty()) return;
  const auto expand = [&](std::vector<double>& table, bool limits) {
    const std::vector<double> reduced = table;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double fixed = limits ? structure.fixed_value(i) : 0.0;
      const std::size_t row = i / n;
      table[i] = structure.is_free(i)
                     ? structure.mass_left(row) * reduced[structure.leader(row) * n + i % n]
                     : fixed;
    }
  };
  expand(estimate.standard_error, false);
  expand(estimate.lower, true);
  expand(estimate.upper, true);
  for (ConfidenceRegion* region : {&estimate.row_region, &estimate.joint_region}) {
    if (region->factor.empty()) continue;
    expand(region->lower, true);
    expand(region->upper, true);
    const ConfidenceRegion reduced = *region;
    for (std::size_t row = 0; row < visits.size(); ++row) {
      region->factor[row] = reduced.factor[structure.leader(row)];
      region->l1[row] = structure.mass_left(row) * reduced.l1[structure.leader(row)];
    }
  }
}

LikelihoodEstimate maximize_likelihood(const LikelihoodFunction& likelihood,
                                       const TransitionModel& start,
                                       const TransitionStructure& structure,
                                       const LikelihoodOptions& options) {
  LikelihoodEstimate estimate = maximize_likelihood(reduced_likelihood(structure, likelihood),
                                                    structure.reduce(start), options);
  estimate.transition = structure.expand(estimate.transition);
  estimate.pass = likelihood(estimate.transition, {});
  ++estimate.passes;
  return estimate;
}

}  // namespace oas
