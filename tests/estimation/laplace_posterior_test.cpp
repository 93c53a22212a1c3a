#include "oas/estimation/likelihood/laplace_posterior.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/gibbs/posterior_draw.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/problems/corner_models.hpp"
#include "oas/problems/named.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

constexpr double kPrior = 0.3;

// Rows, their likelihood and its mode.
struct Fitted {
  Fitted(const Pomdp& model, const Trajectory& log)
      : likelihood(model), rows(likelihood_rows(likelihood, {1})) {
    likelihood.append(log.actions, log.observations);
    LikelihoodOptions options;
    options.prior = kPrior;
    mode =
        maximize_likelihood(
            likelihood, TransitionModel::uniform(model.num_states(), model.num_actions()), options)
            .transition;
    pass = likelihood.pass(mode);
  }
  Fitted(const Pomdp& model, std::size_t steps, std::uint64_t seed)
      : Fitted(model, test::play_uniformly(model, steps, /*missing=*/0.0, seed)) {}
  Fitted(const Fitted&) = delete;
  Fitted& operator=(const Fitted&) = delete;

  [[nodiscard]] LaplacePosterior posterior() const { return {rows.likelihood, mode, pass, kPrior}; }
  // What n moves out of a row say about an entry if its states were seen.
  [[nodiscard]] double variance_by_counts(std::size_t entry) const {
    const auto n = static_cast<std::size_t>(mode.num_states());
    double visits = 0.0;
    for (std::size_t i = entry / n * n; i < entry / n * n + n; ++i) visits += pass.counts[i];
    return mode.values()[entry] * (1.0 - mode.values()[entry]) / visits;
  }

  TransitionLikelihood likelihood;
  LikelihoodRows rows;
  TransitionModel mode;
  LikelihoodPass pass;
};

// Variances of entries, of `count` models that draw(i) makes.
template <class Draw>
std::vector<double> variances(std::size_t entries, std::uint32_t count, const Draw& draw) {
  std::vector<double> sums(entries, 0.0);
  std::vector<double> squares(entries, 0.0);
  for (std::uint32_t i = 0; i < count; ++i) {
    const TransitionModel drawn = draw(i);
    for (std::size_t e = 0; e < entries; ++e) {
      sums[e] += drawn.values()[e] / count;
      squares[e] += drawn.values()[e] * drawn.values()[e] / count;
    }
  }
  for (std::size_t e = 0; e < entries; ++e) squares[e] -= sums[e] * sums[e];
  return squares;
}

TEST(LaplacePosterior, WhereStatesAreSeenItIsAsWideAsTheCountsSay) {
  const Fitted fitted(make_problem("corner/perfect-dense"), 4000, 1);
  const LaplacePosterior posterior = fitted.posterior();
  const std::vector<double> found =
      variances(fitted.pass.counts.size(), 4000, [&](std::uint32_t i) {
        return posterior.draw(Rng({3, i, Role::agent}));
      });
  for (std::size_t e = 0; e < found.size(); ++e) {
    const double expected = fitted.variance_by_counts(e);
    EXPECT_NEAR(found[e] / expected, 1.0, 0.2) << e;
  }
}

// The first of the random models whose sensors tell little, but something.
Pomdp weak_model(Timing timing) {
  test::RandomModelOptions options;
  options.num_states = 2;
  options.num_observations = 2;
  options.timing = timing;
  options.concentration = 2.0;
  for (std::uint64_t seed = 1;; ++seed) {
    Pomdp model = test::random_model(options, seed);
    const std::vector<double> alphas = sensor_alphas(model);
    const auto [least, most] = std::minmax_element(alphas.begin(), alphas.end());
    if (*least > 0.3 && *most < 0.5) return model;
  }
}

class WeakSensors : public testing::TestWithParam<Timing> {};

// There the rows leave several times more open than the expected transitions show: as much as the
// exact posterior does.
TEST_P(WeakSensors, AreWhatMakesItAsWideAsTheExactPosterior) {
  const Pomdp model = weak_model(GetParam());
  const Fitted fitted(model, 8'000, 2);
  const LaplacePosterior posterior = fitted.posterior();
  const std::size_t entries = fitted.pass.counts.size();
  const std::vector<double> found = variances(entries, 2000, [&](std::uint32_t i) {
    return posterior.draw(Rng({3, i, Role::agent}));
  });
  TransitionModel at = fitted.mode;
  const std::vector<double> exact = variances(entries, 400, [&](std::uint32_t i) {
    at = *draw_from_posterior(fitted.likelihood, at, /*sweeps=*/4, Rng({4, i, Role::agent}));
    return at;
  });
  double wider = 0.0;
  for (std::size_t e = 0; e < entries; ++e) {
    EXPECT_GT(found[e], 0.4 * exact[e]) << e;
    EXPECT_LT(found[e], 2.5 * exact[e]) << e;
    wider += found[e] / fitted.variance_by_counts(e) / static_cast<double>(entries);
  }
  EXPECT_GT(wider, 3.0);
}

INSTANTIATE_TEST_SUITE_P(Timings, WeakSensors, testing::Values(Timing::before, Timing::after),
                         [](const auto& timing) { return std::string(to_string(timing.param)); });

// Rows of an action that was never played: anything, Dirichlet(1/S, …).
TEST(LaplacePosterior, RowsThatWereNeverLeftAreDrawnFromThePrior) {
  const Pomdp model = make_problem("corner/perfect-dense");
  Trajectory log = test::play_uniformly(model, 500, /*missing=*/0.0, 4);
  const Action first = log.actions.front();
  Trajectory alone;
  for (std::size_t t = 0; t < log.size() && log.actions[t] == first; ++t) {
    alone.actions.push_back(log.actions[t]);
    alone.observations.push_back(log.observations[t]);
  }
  const Fitted fitted(model, alone);
  const LaplacePosterior posterior = fitted.posterior();
  const auto n = static_cast<std::size_t>(model.num_states());
  const std::vector<double> found =
      variances(fitted.pass.counts.size(), 4000, [&](std::uint32_t i) {
        return posterior.draw(Rng({3, i, Role::agent}));
      });
  const double states = model.num_states();
  for (std::size_t e = 0; e < found.size(); ++e) {
    if (e / (n * n) == static_cast<std::size_t>(first)) continue;
    EXPECT_NEAR(found[e], (states - 1.0) / (states * states) / 2.0, 0.03) << e;
  }
}

// On every corner model, few rows and many: models come out, whatever the coordinates.
TEST(LaplacePosterior, GivesModelsOnCornerModels) {
  for (const ProblemInfo& corner : corner_models()) {
    const Pomdp model = corner.make();
    for (const std::size_t rows : {3U, 60U, 600U}) {
      const Fitted fitted(model, rows, 7);
      if (!fitted.pass.possible()) continue;
      const LaplacePosterior posterior = fitted.posterior();
      for (std::uint32_t i = 0; i < 3; ++i) {  // the constructor of TransitionModel checks it
        EXPECT_NO_THROW(static_cast<void>(posterior.draw(Rng({3, i, Role::agent}))))
            << corner.name << rows;
      }
    }
  }
}

TEST(LaplacePosterior, RefusesNoPriorAndRowsThatCannotHappen) {
  const Fitted fitted(make_problem("corner/perfect-dense"), 50, 1);
  EXPECT_THROW(LaplacePosterior(fitted.rows.likelihood, fitted.mode, fitted.pass, 0.0),
               InvalidArgument);
  EXPECT_THROW(LaplacePosterior(fitted.rows.likelihood, fitted.mode, {}, kPrior), InvalidArgument);
}

}  // namespace
}  // namespace oas
