// Estimation for many states: the climb in roots and the error bars by solves against the dense
// road where both work, passes that leave out known zeros, forty states in corners, budgets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/detail/many_state_errors.hpp"
#include "oas/estimation/error_bars/detail/moderated_variances.hpp"
#include "oas/estimation/likelihood/detail/likelihood_climb.hpp"
#include "oas/estimation/likelihood/detail/root_climb.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/sensors/detail/fit_in_parts.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Pomdp random_model(int states, double peak, std::uint64_t seed) {
  RandomPomdpOptions options;
  options.num_states = states;
  options.num_actions = 2;
  options.num_observations = states + 2;
  options.peak = peak;
  Rng rng({seed, 0, Role::problem});
  return random_pomdp(options, rng).model;
}

// To the next state or the second next, round and round.
TransitionModel ring(int states, int actions, double first) {
  std::vector<double> values;
  for (int row = 0; row < states * actions; ++row) {
    std::vector<double> one(static_cast<std::size_t>(states), 0.0);
    one[static_cast<std::size_t>((row % states + 1) % states)] += first;
    one[static_cast<std::size_t>((row % states + 2) % states)] += 1.0 - first;
    values.insert(values.end(), one.begin(), one.end());
  }
  return {states, actions, std::move(values)};
}

TransitionLikelihood rows_of(const Pomdp& model, std::size_t count, Trajectory& rows) {
  ClosedLoop loop(model, {}, 5, 0);
  loop.advance(static_cast<std::int64_t>(count), rows);
  TransitionLikelihood likelihood(model);
  likelihood.append(rows.actions, rows.observations);
  return likelihood;
}

LikelihoodFunction passes_of(const TransitionLikelihood& rows) {
  return [&rows](const TransitionModel& at, const PassOptions& options) {
    return rows.pass(at, options, {1});
  };
}

TEST(ManyStates, TheClimbInRootsEndsWhereTheDenseOneDoes) {
  const Pomdp model = random_model(8, 10.0, 3);
  Trajectory trajectory;
  const TransitionLikelihood rows = rows_of(model, 20'000, trajectory);
  const LikelihoodFunction passes = passes_of(rows);
  LikelihoodOptions options;
  options.tolerance = 1e-6;
  const TransitionModel start = TransitionModel::uniform(8, 2);
  const LikelihoodEstimate dense = detail::LikelihoodClimb(passes, options).run(start);
  const LikelihoodEstimate roots = detail::RootClimb(passes, options).run(start);
  ASSERT_EQ(dense.status, LikelihoodStatus::converged);
  ASSERT_EQ(roots.status, LikelihoodStatus::converged);
  EXPECT_NEAR(roots.objective, dense.objective, 1e-3);
  for (std::size_t i = 0; i < start.values().size(); ++i) {
    EXPECT_NEAR(roots.transition.values()[i], dense.transition.values()[i], 2e-3) << i;
  }
}

// Variances by solves against those of the dense information, in the middle of all entries.
TEST(ManyStates, ErrorBarsBySolvesAreThoseOfTheInformation) {
  const Pomdp model = random_model(8, 30.0, 4);
  Trajectory trajectory;
  const TransitionLikelihood rows = rows_of(model, 60'000, trajectory);
  const LikelihoodFunction passes = passes_of(rows);
  const LikelihoodEstimate climbed =
      maximize_likelihood(passes, TransitionModel::uniform(8, 2), {});
  detail::ErrorContext context;
  context.rows = 60'000.0;
  for (std::size_t first = 0; first < 128; first += 8) {
    double visits = 0.0;
    for (std::size_t i = first; i < first + 8; ++i) visits += climbed.pass.counts[i];
    context.visits.push_back(visits);
  }
  int made = 0;
  const ObservedInformation information =
      observed_information(passes, climbed.transition, climbed.pass);
  const JointErrors dense = detail::likelihood_errors(
      detail::make_summit(passes, climbed.transition, climbed.pass, information.matrix), context,
      made);
  const JointErrors solved = detail::many_state_errors(
      detail::make_summit(passes, climbed.transition, climbed.pass), {}, context, made);
  double mean = 0.0;
  double count = 0.0;
  for (Eigen::Index i = 0; i < 128; ++i) {
    const double expected = dense.factor.row(i).norm();
    const double found = solved.factor(i, 0);
    if (!(expected > 0.0) || !(found > 0.0)) continue;
    EXPECT_LT(std::abs(std::log(found / expected)), 0.6) << i;
    mean += std::log(found / expected);
    count += 1.0;
  }
  EXPECT_GT(count, 100.0);
  EXPECT_NEAR(mean / count, 0.0, 0.05);
}

// With 20 states the loops leave out what is 0; known zeros have no score, all else is the same.
TEST(ManyStates, KnownZerosChangeNothingElse) {
  const Pomdp model = random_model(20, 10.0, 5).with_transition(ring(20, 2, 0.7));
  Trajectory trajectory;
  const TransitionLikelihood rows = rows_of(model, 6'000, trajectory);
  const LikelihoodPass all = rows.pass(model.transition(), {}, {1});
  PassOptions options;
  std::vector<char> zeros;
  for (const double value : model.transition().values()) zeros.push_back(value == 0.0);
  options.known_zeros = std::make_shared<const std::vector<char>>(zeros);
  const LikelihoodPass known = rows.pass(model.transition(), options, {2});
  EXPECT_EQ(known.log_likelihood, all.log_likelihood);
  EXPECT_EQ(known.counts, all.counts);
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    EXPECT_EQ(known.score[i], zeros[i] != 0 ? 0.0 : all.score[i]) << i;
  }
}

TEST(ManyStates, FortyStatesInARingEndWithAnHonestStatus) {
  const Pomdp model = random_model(40, 100.0, 6).with_transition(ring(40, 2, 1.0));
  Trajectory trajectory;
  const TransitionLikelihood rows = rows_of(model, 4'000, trajectory);
  const TransitionModel uniform = TransitionModel::uniform(40, 2);
  ASSERT_TRUE(detail::has_many_coordinates(uniform));
  LikelihoodEstimatorOptions options;
  options.climb.max_passes = 12;
  const TransitionEstimate few =
      estimate_likelihood(likelihood_rows(rows, {1}), {uniform}, model, options);
  EXPECT_THAT(few.warnings, Contains(HasSubstr("stopped at the limit on passes")));
  ASSERT_EQ(few.lower.size(), 3200U);
  for (std::size_t i = 0; i < few.lower.size(); ++i) {
    EXPECT_LE(few.lower[i], few.transition.values()[i] + 1e-6) << i;
    EXPECT_GE(few.upper[i], few.transition.values()[i] - 1e-6) << i;
  }
  LikelihoodOptions hurried;
  hurried.max_seconds = 1e-9;
  EXPECT_EQ(maximize_likelihood(rows, uniform, hurried, {1}).status, LikelihoodStatus::time_limit);
}

// Equal guesses and true variances: what is moderated is nearer to them than what was measured.
TEST(ManyStates, ModeratedVariancesAreNearerTheTruth) {
  detail::MeasuredVariances measured;
  measured.row_length = 10;
  measured.degrees = 12;
  measured.guess = Vector::Ones(100);
  measured.squares = Vector::Zero(100);
  measured.is_used.assign(100, 1);
  Rng rng({7, 0, Role::test});
  for (double& square : measured.squares) {
    for (int k = 0; k < 12; ++k) {
      const double angle = 6.283185307179586 * rng.uniform();
      const double normal = std::sqrt(-2.0 * std::log(1.0 - rng.uniform())) * std::cos(angle);
      square += normal * normal / 12.0;
    }
  }
  const detail::ModeratedVariances moderated = detail::moderate(measured);
  EXPECT_GT(moderated.degrees, 40.0);
  EXPECT_LT((moderated.variances.array() - 1.0).square().mean(),
            0.4 * (measured.squares.array() - 1.0).square().mean());
}

// A log of three parts, of a ring that hardly forgets where it is.
TEST(ManyStates, TheFitInPartsIsThatOfAllRows) {
  const Pomdp model = random_model(6, 1.0, 8).with_transition(ring(6, 2, 0.999));
  ClosedLoop loop(model, {}, 5, 0);
  Trajectory rows;
  loop.advance(80'000, rows);
  SensorFitTest whole(model);
  detail::FitInParts one(model, {1});
  detail::FitInParts two(model, {2});
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const RunStart start;
    const RunStart* const how = t == 0 || t == 50'000 ? &start : nullptr;
    whole.add(rows.actions[t], rows.observations[t], how);
    one.add(rows.actions[t], rows.observations[t], how);
    two.add(rows.actions[t], rows.observations[t], how);
  }
  const SensorFit expected = whole.finish();
  const SensorFit found = one.finish();
  EXPECT_EQ(found.statistic, two.finish().statistic);
  EXPECT_NEAR(found.statistic, expected.statistic, 1e-6 * expected.statistic);
  EXPECT_EQ(found.degrees, expected.degrees);
}

}  // namespace
}  // namespace oas
