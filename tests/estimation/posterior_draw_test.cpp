#include "oas/estimation/gibbs/posterior_draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/problems/corner_models.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

constexpr double kFailureProbability = 1e-6;

class PosteriorDraw : public testing::TestWithParam<Timing> {};

// Largest distance between the distribution of `values` and the arcsine law, which is Beta(½, ½).
double distance_to_arcsine_law(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double largest = 0.0;
  const auto n = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double law = 2.0 / std::numbers::pi * std::asin(std::sqrt(values[i]));
    const auto below = static_cast<double>(i);
    largest = std::max({largest, law - below / n, (below + 1.0) / n - law});
  }
  return largest;
}

// T from the prior, rows from T, and a draw given the rows on from T: again one from the prior
// (Geweke 2004). The law of the distance: Dvoretzky-Kiefer-Wolfowitz with Massart's constant.
TEST_P(PosteriorDraw, OfRowsFromThePriorKeepsThePrior) {
  constexpr int kReplications = 3000;
  constexpr std::size_t kRows = 40;
  test::RandomModelOptions options;
  options.num_states = 2;
  options.timing = GetParam();
  const Pomdp sensors = test::random_model(options, 11).without_transition();
  const std::size_t rows = 2 * static_cast<std::size_t>(sensors.num_actions());
  std::vector<std::vector<double>> drawn(rows);
  for (std::uint32_t r = 0; r < kReplications; ++r) {
    Rng rng({5, r, Role::agent});
    std::vector<double> values(2 * rows);
    for (std::size_t row = 0; row < rows; ++row) {
      sample_dirichlet(std::array{0.5, 0.5}, std::span(values).subspan(2 * row, 2), rng);
    }
    const TransitionModel truth(2, sensors.num_actions(), values, "T");
    const Trajectory log =
        test::play_uniformly(sensors.with_transition(truth), kRows, /*missing=*/0.1, r);
    TransitionLikelihood likelihood(sensors);
    likelihood.append(log.actions, log.observations);
    const auto draw = draw_from_posterior(likelihood, truth, /*sweeps=*/3, rng);
    ASSERT_TRUE(draw.has_value());
    for (std::size_t row = 0; row < rows; ++row) drawn[row].push_back(draw->values()[2 * row]);
  }
  const double bound = std::sqrt(std::log(2.0 * static_cast<double>(rows) / kFailureProbability) /
                                 2.0 / kReplications);
  for (std::size_t row = 0; row < rows; ++row) {
    EXPECT_LT(distance_to_arcsine_law(drawn[row]), bound) << "row " << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, PosteriorDraw, testing::Values(Timing::before, Timing::after),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// Whatever the dynamics, and even from a start under which the rows cannot happen.
TEST(PosteriorDrawOfCorners, IsAModelAndAFunctionOfTheSeed) {
  for (const ProblemInfo& corner : corner_models()) {
    SCOPED_TRACE(std::string(corner.name));
    const Pomdp model = corner.make();
    const int num_states = model.num_states();
    TransitionLikelihood rows(model);
    const Trajectory log = test::play_uniformly(model, 300, 0.0, 3);
    rows.append(log.actions, log.observations);
    std::vector<double> stay(model.transition().values().size(), 0.0);
    for (std::size_t i = 0; i < stay.size(); ++i) {
      const auto n = static_cast<std::size_t>(num_states);
      stay[i] = i % n == i / n % n ? 1.0 : 0.0;
    }
    const TransitionModel stays(num_states, model.num_actions(), std::move(stay), "stays");
    for (const TransitionModel& start : {model.transition(), stays}) {
      const auto one = draw_from_posterior(rows, start, 4, Rng({1, 2, Role::agent}));
      const auto same = draw_from_posterior(rows, start, 4, Rng({1, 2, Role::agent}));
      ASSERT_TRUE(one && same);
      EXPECT_TRUE(std::equal(one->values().begin(), one->values().end(), same->values().begin()));
      EXPECT_TRUE(rows.pass(*one).possible());
    }
  }
}

TEST(PosteriorDrawArguments, AreChecked) {
  const Pomdp model = test::random_model({}, 1);
  const TransitionLikelihood rows(model);
  const Rng rng({1, 0, Role::agent});
  EXPECT_TRUE(draw_from_posterior(rows, model.transition(), 1, rng));
  EXPECT_THROW(static_cast<void>(draw_from_posterior(rows, model.transition(), 0, rng)),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(draw_from_posterior(rows, TransitionModel::uniform(2, 2), 1, rng)),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
