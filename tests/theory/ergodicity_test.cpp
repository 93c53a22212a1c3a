#include "oas/theory/ergodicity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

Matrix two_states(double leave, double come_back) {
  Matrix chain(2, 2);
  chain << 1.0 - leave, leave, come_back, 1.0 - come_back;
  return chain;
}

// The chain over (state, action), index s·A + a, under a policy that ignores everything.
Matrix state_action_chain(const TransitionModel& model, const std::vector<double>& policy) {
  const int num_actions = model.num_actions();
  const int n = model.num_states() * num_actions;
  Matrix chain(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      chain(i, j) = model(Action{i % num_actions}, State{i / num_actions}, State{j / num_actions}) *
                    policy[static_cast<std::size_t>(j % num_actions)];
    }
  }
  return chain;
}

TransitionModel any_dynamics(double min_entry_times_states) {
  const int num_states = *rc::gen::inRange(1, 7).as("states");
  const int num_actions = *rc::gen::inRange(1, 4).as("actions");
  Rng rng({test::any_seed(), 0, Role::problem});
  return random_transition(num_states, num_actions, min_entry_times_states / num_states, rng);
}

TEST(Dobrushin, TwoStateChain) {
  EXPECT_NEAR(dobrushin_coefficient(two_states(0.1, 0.3)), 0.6, 1e-15);
  EXPECT_NEAR(second_eigenvalue_modulus(two_states(0.1, 0.3)), 0.6, 1e-12);
  EXPECT_NEAR(dobrushin_coefficient(two_states(0.9, 0.8)), 0.7, 1e-15);
  EXPECT_NEAR(second_eigenvalue_modulus(two_states(0.9, 0.8)), 0.7, 1e-12);
}

TEST(Dobrushin, ExtremesAndOneRow) {
  EXPECT_EQ(dobrushin_coefficient(Matrix::Identity(3, 3)), 1.0);
  EXPECT_EQ(second_eigenvalue_modulus(Matrix::Identity(3, 3)), 1.0);
  EXPECT_EQ(dobrushin_coefficient(Matrix::Constant(4, 4, 0.25)), 0.0);
  EXPECT_EQ(dobrushin_coefficient(Matrix::Constant(1, 2, 0.5)), 0.0);
  EXPECT_EQ(second_eigenvalue_modulus(Matrix::Ones(1, 1)), 0.0);
}

TEST(Dobrushin, RefusesWhatIsNotStochastic) {
  EXPECT_THROW(static_cast<void>(dobrushin_coefficient(Matrix::Ones(2, 2))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(dobrushin_coefficient(Matrix(0, 0))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(second_eigenvalue_modulus(Matrix::Ones(2, 3))), InvalidArgument);
}

RC_GTEST_PROP(Dobrushin, ContractsAllDistributionsAndSomeExactly, ()) {
  const int rows = *rc::gen::inRange(2, 7).as("rows");
  const int columns = *rc::gen::inRange(1, 7).as("columns");
  Rng rng({test::any_seed(), 0, Role::test});
  const auto values = test::random_rows(rows, columns, 0.5, 0.2, rng);
  const MatrixView kernel(values.data(), rows, columns);
  const double coefficient = dobrushin_coefficient(kernel);
  const auto pair = test::random_rows(2, rows, 0.3, 0.3, rng);
  const VectorView left(pair.data(), rows);
  const VectorView right(pair.data() + rows, rows);
  const double before = (left - right).lpNorm<1>();
  const double after = (kernel.transpose() * (left - right)).lpNorm<1>();
  RC_ASSERT(after <= coefficient * before + 1e-12);
  // The paper's definition by common mass; reached by two unit vectors.
  double least_common = 1.0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j) {
      least_common = std::min(least_common, kernel.row(i).cwiseMin(kernel.row(j)).sum());
    }
  }
  RC_ASSERT(std::abs(coefficient - (1.0 - least_common)) < 1e-7);
}

RC_GTEST_PROP(Dobrushin, LiesBetweenTheSecondEigenvalueAndOneMinusSEpsilon, ()) {
  const TransitionModel model = any_dynamics(*rc::gen::element(0.05, 0.2, 0.6));
  const double min_entry = smallest_transition(model);
  for (int a = 0; a < model.num_actions(); ++a) {
    const auto chain = model.matrix(Action{a});
    const double coefficient = dobrushin_coefficient(chain);
    RC_ASSERT(second_eigenvalue_modulus(chain) <= coefficient + 1e-9);
    RC_ASSERT(coefficient <= 1.0 - model.num_states() * min_entry + 1e-12);
  }
}

RC_GTEST_PROP(Ergodicity, StateActionChainUnderTheUniformPolicy, ()) {
  const TransitionModel model = any_dynamics(0.2);
  const ErgodicityReport report = analyse_ergodicity(model);
  const std::vector<double> uniform(static_cast<std::size_t>(model.num_actions()),
                                    1.0 / model.num_actions());
  const Matrix chain = state_action_chain(model, uniform);
  RC_ASSERT(std::abs(report.state_action_coefficient - dobrushin_coefficient(chain)) < 1e-12);
  // 1e-6: the chain over pairs repeats the eigenvalue 0, where eigenvalues are ill conditioned.
  if (model.num_states() > 1) {
    RC_ASSERT(std::abs(report.second_eigenvalue - second_eigenvalue_modulus(chain)) < 1e-6);
  }
}

RC_GTEST_PROP(Ergodicity, PaperBoundHoldsForEveryPolicyWithThatFloor, ()) {
  const TransitionModel model = any_dynamics(0.2);
  const int num_actions = model.num_actions();
  const double floor = *rc::gen::element(0.02, 0.1, 0.3);
  std::vector<double> policy(static_cast<std::size_t>(num_actions), floor);
  policy[0] = 1.0 - (num_actions - 1) * floor;
  const double iota = std::min(floor, policy[0]);
  const double bound =
      contraction_bound(model.num_states(), num_actions, smallest_transition(model), iota);
  const Matrix chain = state_action_chain(model, policy);
  RC_ASSERT(dobrushin_coefficient(chain) <= bound + 1e-12);
  RC_ASSERT(second_eigenvalue_modulus(chain) <= bound + 1e-6);
}

TEST(Ergodicity, ReportOfTwoActions) {
  const TransitionModel model(2, 2, {0.9, 0.1, 0.3, 0.7, 0.5, 0.5, 0.4, 0.6});
  const ErgodicityReport report = analyse_ergodicity(model);
  EXPECT_EQ(report.min_transition, 0.1);
  EXPECT_THAT(report.action_coefficients, testing::ElementsAre(testing::DoubleNear(0.6, 1e-15),
                                                               testing::DoubleNear(0.1, 1e-15)));
  EXPECT_NEAR(report.coefficient, 0.6, 1e-15);
  EXPECT_NEAR(report.state_action_coefficient, 0.6, 1e-15);  // rows (0.9,0.1) and (0.3,0.7)
  EXPECT_NEAR(report.second_eigenvalue, 0.35, 1e-12);        // mean chain [0.7 0.3; 0.35 0.65]
  EXPECT_NEAR(report.stationary[0], 0.35 / 0.65, 1e-12);
  EXPECT_NEAR(report.min_stationary, 0.3 / 0.65, 1e-12);
  EXPECT_THAT(report.brief(), testing::HasSubstr("epsilon 0.1, Dobrushin 0.6;"));
}

TEST(Ergodicity, RowsOfDifferentActionsCountForTheStateActionChain) {
  const TransitionModel model(2, 2, {1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0});
  const ErgodicityReport report = analyse_ergodicity(model);
  EXPECT_EQ(report.coefficient, 0.0);
  EXPECT_EQ(report.state_action_coefficient, 1.0);
  EXPECT_NEAR(report.min_stationary, 0.5, 1e-15);
}

TEST(Ergodicity, SeveralClosedClassesHaveNoStationaryDistribution) {
  const ErgodicityReport report = analyse_ergodicity({2, 1, {1.0, 0.0, 0.0, 1.0}});
  EXPECT_TRUE(report.stationary.empty());
  EXPECT_EQ(report.min_stationary, 0.0);
  EXPECT_THAT(report.brief(), testing::HasSubstr("no unique stationary distribution"));
  const ErgodicityReport transient = analyse_ergodicity({2, 1, {1.0, 0.0, 0.5, 0.5}});
  EXPECT_EQ(transient.stationary, (std::vector<double>{1.0, 0.0}));
  EXPECT_EQ(transient.min_stationary, 0.0);
}

TEST(Ergodicity, LargeModelsGoWithoutEigenvalues) {
  const int n = 1001;
  const ErgodicityReport report = analyse_ergodicity(TransitionModel::uniform(n, 1));
  EXPECT_FALSE(report.complete);
  EXPECT_NEAR(report.min_transition, 1.0 / n, 1e-15);
  EXPECT_EQ(report.coefficient, 0.0);
  EXPECT_EQ(report.state_action_coefficient, 0.0);
  EXPECT_TRUE(std::isnan(report.second_eigenvalue));
  EXPECT_TRUE(std::isnan(report.min_stationary));
  EXPECT_TRUE(report.stationary.empty());
  EXPECT_THAT(report.brief(), testing::HasSubstr("Dobrushin 0; too large for eigenvalues"));
}

// Comparing all 40,000 rows would read 4e10 numbers.
TEST(Ergodicity, CoefficientsThatTakeTooLongAreUnknownUnlessOne) {
  const int num_actions = 800;
  const ErgodicityReport uniform = analyse_ergodicity(TransitionModel::uniform(50, num_actions));
  EXPECT_EQ(uniform.coefficient, 0.0);
  EXPECT_TRUE(std::isnan(uniform.state_action_coefficient));
  EXPECT_TRUE(uniform.complete);
  EXPECT_THAT(uniform.brief(), testing::HasSubstr("uniform policy: Dobrushin unknown, second"));
  std::vector<double> values(static_cast<std::size_t>(num_actions * 2500), 0.0);
  for (int row = 0; row < num_actions * 50; ++row) {
    const int first = row * 50 + (row < (num_actions - 1) * 50 ? 0 : 25);  // the last one differs
    std::fill_n(values.begin() + first, 25, 0.04);
  }
  const ErgodicityReport apart = analyse_ergodicity({50, num_actions, values});
  EXPECT_EQ(apart.coefficient, 0.0);
  EXPECT_EQ(apart.state_action_coefficient, 1.0);
}

TEST(Ergodicity, ContractionBound) {
  EXPECT_DOUBLE_EQ(contraction_bound(3, 4, 1.0 / 15.0, 1.0 / 40.0), 0.98);
  EXPECT_EQ(contraction_bound(3, 3, 1.0 / 3.0, 1.0 / 3.0), 0.0);
  EXPECT_EQ(contraction_bound(3, 3, 0.0, 0.1), 1.0);
  EXPECT_THROW(static_cast<void>(contraction_bound(3, 3, 0.4, 0.1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(contraction_bound(3, 3, 0.1, 0.4)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(contraction_bound(0, 3, 0.1, 0.1)), InvalidArgument);
}

TEST(Ergodicity, FreshReportAndEmptyModel) {
  EXPECT_EQ(ErgodicityReport{}.brief(), "mixing not analysed");
  EXPECT_THROW(static_cast<void>(analyse_ergodicity(TransitionModel())), InvalidArgument);
}

}  // namespace
}  // namespace oas
