#include "oas/theory/estimation_bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/theory/ergodicity.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::HasSubstr;

constexpr double kE = 2.718281828459045;

StationaryRadiusInputs stationary_inputs() {
  StationaryRadiusInputs inputs;
  inputs.num_states = 3;
  inputs.num_actions = 4;
  inputs.alpha = 0.5;
  inputs.min_state_probability = 0.2;
  inputs.min_action_probability = 0.1;
  inputs.contraction = 0.6;
  inputs.delta = 0.05;
  inputs.steps = 1e5;
  return inputs;
}

OasRadiusInputs oas_inputs() {
  OasRadiusInputs inputs;
  inputs.alpha = 0.5;
  inputs.min_transition = 0.05;
  inputs.min_action_probability = 0.1;
  inputs.delta = 0.05;
  inputs.steps = 1e5;
  return inputs;
}

TEST(StationaryRadius, ByHand) {
  StationaryRadiusInputs inputs;
  inputs.num_states = inputs.num_actions = 2;
  inputs.alpha = inputs.min_state_probability = inputs.min_action_probability = 0.5;
  inputs.contraction = 0.0;
  inputs.delta = 1.0 / kE;
  inputs.steps = 7.0;
  EXPECT_NEAR(stationary_radius(inputs), 2.0 * 16.0 * 2.0, 1e-12);  // √(4·(2+5)/7) = 2
  inputs.contraction = 0.6;                                         // (1+λ)/(1-λ) = 4
  EXPECT_NEAR(stationary_radius(inputs), 2.0 * 16.0 * 4.0, 1e-12);
  inputs.form = DeviationForm::careful;
  inputs.steps = 16.0;  // √(4·4/16) = 1
  EXPECT_NEAR(stationary_radius(inputs), 2.0 * 16.0 * 2.0 * std::sqrt(2.0), 1e-12);
}

TEST(OasRadius, ByHand) {
  OasRadiusInputs inputs;
  inputs.alpha = 0.5;
  inputs.min_transition = 0.25;
  inputs.min_action_probability = 1.0;
  inputs.start_ratio = 1.0;
  inputs.delta = 1.0 / kE;
  inputs.steps = 7.0;
  EXPECT_NEAR(oas_radius(inputs), 2.0 * 4.0 * 8.0, 1e-12);
  inputs.start_ratio = kE;  // 2e + 5·2
  inputs.steps = 2.0 * kE + 10.0;
  EXPECT_NEAR(oas_radius(inputs), 64.0, 1e-12);
}

TEST(OasRadius, UnsetStartRatioIsTheWorstPossible) {
  OasRadiusInputs inputs = oas_inputs();
  const double unset = oas_radius(inputs);
  inputs.start_ratio = 1.0 / (0.05 * 0.1);
  EXPECT_DOUBLE_EQ(unset, oas_radius(inputs));
  inputs.start_ratio = 1.0;
  EXPECT_LT(oas_radius(inputs), unset);
}

// Lemma 2 follows from Lemma 1 with d_min >= ε and λ = 1 - SAει, where (1+λ)/(1-λ)·SA is nearly
// 2/(ει): a factor that the paper drops, and that squared eigenvalues, per pair, make good.
TEST(OasRadius, IsLemmaOneWithTheContractionOfPairs) {
  OasRadiusInputs extended = oas_inputs();
  extended.start_ratio = 1.0;
  extended.min_transition = 1e-4;
  extended.min_action_probability = 1e-3;
  StationaryRadiusInputs stationary = stationary_inputs();
  stationary.alpha = extended.alpha;
  stationary.delta = extended.delta;
  stationary.steps = extended.steps;
  stationary.min_state_probability = extended.min_transition;
  stationary.min_action_probability = extended.min_action_probability;
  const double per_step =
      contraction_bound(stationary.num_states, stationary.num_actions, 1e-4, 1e-3);
  stationary.contraction = per_step;
  EXPECT_NEAR(stationary_radius(stationary) / oas_radius(extended), std::sqrt(2.0), 1e-5);
  stationary.contraction = per_step * per_step;
  EXPECT_LE(stationary_radius(stationary), oas_radius(extended) * (1.0 + 1e-12));
  EXPECT_NEAR(stationary_radius(stationary) / oas_radius(extended), 1.0, 1e-5);
}

TEST(Deviation, CarefulFormIsLargerOnlyForLargeStartRatios) {
  OasRadiusInputs paper = oas_inputs();
  OasRadiusInputs careful = oas_inputs();
  careful.form = DeviationForm::careful;
  EXPECT_GT(oas_radius(careful), oas_radius(paper));
  EXPECT_LT(oas_radius(careful), 1.19 * oas_radius(paper));
  paper.start_ratio = careful.start_ratio = 1.0;
  EXPECT_LT(oas_radius(careful), oas_radius(paper));
}

RC_GTEST_PROP(Deviation, PrintedFormBoundsTheProofsSumExactlyWhereTheCommentSays, ()) {
  const double ratio = std::exp(*rc::gen::inRange(0, 1000).as("log ratio, 1/100") / 100.0);
  const double delta = *rc::gen::inRange(1, 1000).as("delta, 1/1000") / 1000.0;
  const double log_term = std::log(ratio / delta);
  const double sum = std::sqrt(2.0 * ratio) + std::sqrt(log_term);
  const double printed = std::sqrt(2.0 * ratio + 5.0 * log_term);
  RC_PRE(std::abs(ratio - 2.0 * log_term) > 1e-9);
  RC_ASSERT((sum <= printed) == (ratio <= 2.0 * log_term));
  const double careful = std::sqrt(2.0 * ratio) + std::sqrt(2.0 * log_term);
  RC_ASSERT(careful >= sum);
  RC_ASSERT(careful <= 1.184 * printed);
}

// The normalisation step behind both lemmas, in the form that is true.
RC_GTEST_PROP(Normalisation, ErrorGrowsByAtMostTwoRootS, ()) {
  const int size = *rc::gen::inRange(1, 8).as("states");
  Rng rng({test::any_seed(), 0, Role::test});
  const auto values = test::random_rows(2, size, *rc::gen::element(0.1, 1.0), 0.3, rng);
  const Vector x = VectorView(values.data(), size) * (0.01 + rng.uniform());
  const Vector y = VectorView(values.data() + size, size) * (0.01 + rng.uniform());
  const double error = (x / x.lpNorm<1>() - y / y.lpNorm<1>()).norm();
  const double root = std::sqrt(static_cast<double>(size));
  RC_ASSERT(error <= (1.0 + root) * (x - y).norm() / x.lpNorm<1>() + 1e-12);
  RC_ASSERT(1.0 + root <= 2.0 * root);
}

TEST(Normalisation, ThePapersStepIsFalse) {
  const Vector x = (Vector(2) << 1.0, 0.0).finished();
  const Vector y = (Vector(2) << 1.0, 0.01).finished();
  const double by_l1 = (x / x.lpNorm<1>() - y / y.lpNorm<1>()).norm();
  const double by_l2 = (x / x.norm() - y / y.norm()).norm();
  EXPECT_GT(by_l1, 1.3 * by_l2);
}

// Shrinks in what helps, grows in what hurts.
TEST(OasRadius, Monotone) {
  const double base = oas_radius(oas_inputs());
  const auto changed = [](const std::function<void(OasRadiusInputs&)>& change) {
    OasRadiusInputs inputs = oas_inputs();
    change(inputs);
    return oas_radius(inputs);
  };
  EXPECT_LT(changed([](auto& i) { i.alpha *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.min_transition *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.min_action_probability *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.delta *= 1.1; }), base);
  EXPECT_NEAR(changed([](auto& i) { i.steps *= 4.0; }), base / 2.0, 1e-9 * base);
}

TEST(StationaryRadius, Monotone) {
  const double base = stationary_radius(stationary_inputs());
  const auto changed = [](const std::function<void(StationaryRadiusInputs&)>& change) {
    StationaryRadiusInputs inputs = stationary_inputs();
    change(inputs);
    return stationary_radius(inputs);
  };
  EXPECT_LT(changed([](auto& i) { i.alpha *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.min_state_probability *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.min_action_probability *= 1.1; }), base);
  EXPECT_LT(changed([](auto& i) { i.delta *= 1.1; }), base);
  EXPECT_GT(changed([](auto& i) { i.contraction = 0.61; }), base);
  EXPECT_GT(changed([](auto& i) { i.num_states += 1; }), base);
  EXPECT_GT(changed([](auto& i) { i.num_actions += 1; }), base);
  EXPECT_NEAR(changed([](auto& i) { i.steps *= 4.0; }), base / 2.0, 1e-9 * base);
}

RC_GTEST_PROP(Inversion, GivesTheLeastNumberOfSteps, ()) {
  const double target = std::exp(*rc::gen::inRange(-500, 2000).as("log target, 1/100") / 100.0);
  OasRadiusInputs oas = oas_inputs();
  oas.steps = steps_for_oas_radius(oas, target);
  RC_ASSERT(oas.steps == std::floor(oas.steps));
  RC_ASSERT(oas_radius(oas) <= target);
  StationaryRadiusInputs stationary = stationary_inputs();
  stationary.steps = steps_for_stationary_radius(stationary, target);
  RC_ASSERT(stationary_radius(stationary) <= target);
  const auto fewer = [](double steps) { return std::floor(steps * (1.0 - 1e-12)) - 1.0; };
  if (fewer(oas.steps) >= 1.0) {
    oas.steps = fewer(oas.steps);
    RC_ASSERT(oas_radius(oas) > target);
  }
  if (fewer(stationary.steps) >= 1.0) {
    stationary.steps = fewer(stationary.steps);
    RC_ASSERT(stationary_radius(stationary) > target);
  }
}

TEST(Inversion, RefusesImpossibleTargets) {
  EXPECT_THROW(static_cast<void>(steps_for_oas_radius(oas_inputs(), 0.0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(steps_for_stationary_radius(stationary_inputs(), -1.0)),
               InvalidArgument);
}

TEST(RowRadius, CoversEveryRow) {
  EXPECT_DOUBLE_EQ(row_radius(0.3, 4), 0.3);
  EXPECT_DOUBLE_EQ(row_radius(0.2, 1), 0.1);
  EXPECT_EQ(row_radius(0.0, 5), 0.0);
  EXPECT_THROW(static_cast<void>(row_radius(-0.1, 5)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(row_radius(0.1, 0)), InvalidArgument);
}

// T_a = (1-k) u + k I for both actions: rows differ by k in total variation, u is stationary; and
// sensors that tell the state with probability q.
struct Lazy {
  SensorReport sensors;
  ErgodicityReport ergodicity;
};
Lazy lazy_chain(int num_states, double keep, double q) {
  const auto table = [&](double diagonal) {
    std::vector<double> values;
    for (int i = 0; i < 2 * num_states * num_states; ++i) {
      const bool on = i / num_states % num_states == i % num_states;
      values.push_back(num_states == 1 ? 1.0 : on ? diagonal : (1.0 - diagonal) / (num_states - 1));
    }
    return values;
  };
  return {
      analyse_sensors(ObservationModel(num_states, 2, num_states, table(q))),
      analyse_ergodicity(TransitionModel(num_states, 2, table(keep + (1.0 - keep) / num_states)))};
}

// With two states α = 2q - 1, d_min = 1/2, ι = 1/2 and λ = k, so that the bound is
//   n = (1+k)/(1-k) · 4 (2 + 5 log 10) · (2 · 4 / (α² target))².
TEST(StepsByBound, IsTheLemmaAtTheUniformPolicy) {
  for (const double keep : {0.0, 0.3, 0.9}) {
    for (const double target : {0.1, 1.0}) {
      const Lazy chain = lazy_chain(2, keep, 0.8);
      const double alpha = 0.6;
      const double exact = (1.0 + keep) / (1.0 - keep) * 4.0 * (2.0 + 5.0 * std::log(10.0)) *
                           std::pow(8.0 / (alpha * alpha * target), 2);
      const auto steps = steps_by_bound(chain.sensors, chain.ergodicity, target);
      ASSERT_TRUE(steps.has_value());
      EXPECT_NEAR(*steps, std::ceil(exact), 1.0) << keep;  // rounding may decide about one step
    }
  }
}

// One state: nothing to mix, α = 1, d_min = 1.
TEST(StepsByBound, OneState) {
  const Lazy chain = lazy_chain(1, 0.0, 1.0);
  const auto steps = steps_by_bound(chain.sensors, chain.ergodicity, 0.5);
  ASSERT_TRUE(steps.has_value());
  EXPECT_NEAR(*steps, 2.0 * (2.0 + 5.0 * std::log(10.0)) * std::pow(2.0 * 2.0 / 0.5, 2), 1.0);
}

TEST(StepsByBound, NothingWhereNoNumberIsEnough) {
  const Lazy fine = lazy_chain(2, 0.5, 0.8);
  const Lazy blind = lazy_chain(2, 0.5, 0.5);
  EXPECT_FALSE(steps_by_bound(blind.sensors, fine.ergodicity, 0.1).has_value());
  const Lazy deterministic = lazy_chain(2, 1.0, 0.8);  // two closed classes
  EXPECT_FALSE(steps_by_bound(fine.sensors, deterministic.ergodicity, 0.1).has_value());
  const auto absorbing =
      analyse_ergodicity(TransitionModel(2, 2, {0.5, 0.5, 0, 1, 0.5, 0.5, 0, 1}));
  EXPECT_FALSE(steps_by_bound(fine.sensors, absorbing, 0.1).has_value());
  const auto ring = analyse_ergodicity(TransitionModel(2, 2, {0, 1, 1, 0, 0, 1, 1, 0}));
  EXPECT_FALSE(steps_by_bound(fine.sensors, ring, 0.1).has_value());
}

// What is not known of a large model is no proof that no number is enough.
TEST(StepsByBound, UnknownIsNotANumber) {
  const Lazy fine = lazy_chain(2, 0.5, 0.8);
  for (double ErgodicityReport::*field :
       {&ErgodicityReport::state_action_coefficient, &ErgodicityReport::min_stationary}) {
    ErgodicityReport unknown = fine.ergodicity;
    unknown.*field = std::numeric_limits<double>::quiet_NaN();
    const auto steps = steps_by_bound(fine.sensors, unknown, 0.1);
    ASSERT_TRUE(steps.has_value());
    EXPECT_TRUE(std::isnan(*steps));
    EXPECT_FALSE(steps_by_bound(lazy_chain(2, 0.5, 0.5).sensors, unknown, 0.1).has_value());
  }
}

TEST(StepsByBound, NeedsAPositiveTarget) {
  const Lazy fine = lazy_chain(2, 0.5, 0.8);
  EXPECT_THAT([&] { static_cast<void>(steps_by_bound(fine.sensors, fine.ergodicity, 0.0)); },
              testing::ThrowsMessage<InvalidArgument>(HasSubstr("target error is 0")));
}

template <class Inputs>
void expect_error(Inputs inputs, const std::function<void(Inputs&)>& spoil, const char* message) {
  spoil(inputs);
  try {
    inputs.validate();
    FAIL() << "no exception for: " << message;
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(OasRadius, EveryBadInputIsNamed) {
  const auto check = [](const std::function<void(OasRadiusInputs&)>& spoil, const char* message) {
    expect_error<OasRadiusInputs>(oas_inputs(), spoil, message);
  };
  check([](auto& i) { i.alpha = 0.0; }, "alpha is 0");
  check([](auto& i) { i.min_transition = 0.0; }, "min_transition is 0");
  check([](auto& i) { i.min_action_probability = 1.5; }, "min_action_probability is 1.5");
  check([](auto& i) { i.start_ratio = 0.5; }, "start_ratio is 0.5");
  check([](auto& i) { i.delta = 1.0; }, "delta is 1");
  check([](auto& i) { i.steps = 0.0; }, "steps is 0");
  check([](auto& i) { i.steps = std::numeric_limits<double>::quiet_NaN(); }, "steps is nan");
}

TEST(StationaryRadius, EveryBadInputIsNamed) {
  const auto check = [](const std::function<void(StationaryRadiusInputs&)>& spoil,
                        const char* message) {
    expect_error<StationaryRadiusInputs>(stationary_inputs(), spoil, message);
  };
  check([](auto& i) { i.num_states = 0; }, "num_states is 0");
  check([](auto& i) { i.num_actions = 0; }, "num_actions is 0");
  check([](auto& i) { i.alpha = -1.0; }, "alpha is -1");
  check([](auto& i) { i.min_state_probability = 0.0; }, "min_state_probability is 0");
  check([](auto& i) { i.min_action_probability = 0.0; }, "min_action_probability is 0");
  check([](auto& i) { i.contraction = 1.0; }, "contraction is 1");
  check([](auto& i) { i.delta = 0.0; }, "delta is 0");
}

}  // namespace
}  // namespace oas
