#include "oas/core/linear_algebra.hpp"

#include <gmock/gmock.h>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Matrix random_matrix(int rows, int cols, Rng& rng) {
  Matrix matrix(rows, cols);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = 2.0 * rng.uniform() - 1.0;
  return matrix;
}

Matrix random_stochastic(int size, double concentration, Rng& rng) {
  const auto values = test::random_rows(size, size, concentration, 0.0, rng);
  return MatrixView(values.data(), size, size);
}

double distance(const Matrix& x, const Matrix& y) { return (x - y).norm(); }

RC_GTEST_PROP(PseudoInverse, FulfilsThePenroseConditions, ()) {
  const int rows = *rc::gen::inRange(1, 9).as("rows");
  const int cols = *rc::gen::inRange(1, 9).as("columns");
  const int rank = *rc::gen::inRange(1, std::min(rows, cols) + 1).as("rank");
  Rng rng({test::any_seed(), 0, Role::test});
  const Matrix a = random_matrix(rows, rank, rng) * random_matrix(rank, cols, rng);
  const PseudoInverse result = pseudo_inverse(a);
  const Matrix& x = result.inverse;
  RC_ASSERT(x.rows() == cols && x.cols() == rows);
  RC_ASSERT(result.rank == rank);
  const double scale = 1e-13 / result.singular_values(rank - 1);
  RC_ASSERT(distance(a * x * a, a) < scale * 1e2);
  RC_ASSERT(distance(x * a * x, x) < scale * 1e2 * x.norm());
  RC_ASSERT(distance((a * x).transpose(), a * x) < scale * 1e2);
  RC_ASSERT(distance((x * a).transpose(), x * a) < scale * 1e2);
}

RC_GTEST_PROP(PseudoInverse, IsALeftInverseOfFullColumnRank, ()) {
  const int cols = *rc::gen::inRange(1, 7).as("columns");
  const int rows = cols + *rc::gen::inRange(0, 4).as("more rows");
  Rng rng({test::any_seed(), 0, Role::test});
  const Matrix a = random_matrix(rows, cols, rng);
  const PseudoInverse result = pseudo_inverse(a);
  RC_ASSERT(result.rank == cols);
  RC_ASSERT(distance(result.inverse * a, Matrix::Identity(cols, cols)) < 1e-12 / result.smallest);
}

TEST(PseudoInverse, OfAColumnByHand) {
  Matrix column(2, 1);
  column << 3.0, 4.0;
  const PseudoInverse result = pseudo_inverse(column);
  EXPECT_NEAR(result.inverse(0, 0), 3.0 / 25.0, 1e-15);
  EXPECT_NEAR(result.inverse(0, 1), 4.0 / 25.0, 1e-15);
  EXPECT_EQ(result.rank, 1);
  EXPECT_NEAR(result.smallest, 5.0, 1e-14);
}

TEST(PseudoInverse, SmallestIsTheLastColumnsSingularValue) {
  Matrix tall(3, 2);
  tall << 2.0, 0.0, 0.0, 0.5, 0.0, 0.0;
  EXPECT_NEAR(pseudo_inverse(tall).smallest, 0.5, 1e-15);
  EXPECT_NEAR(pseudo_inverse(tall).singular_values(0), 2.0, 1e-15);
  EXPECT_EQ(pseudo_inverse(tall.transpose()).smallest, 0.0);  // 2 rows cannot tell 3 states apart
  EXPECT_EQ(pseudo_inverse(tall.transpose()).rank, 2);
}

TEST(PseudoInverse, ZeroAndNearlyDependentColumns) {
  const PseudoInverse zero = pseudo_inverse(Matrix::Zero(2, 3));
  EXPECT_EQ(zero.rank, 0);
  EXPECT_EQ(zero.inverse.norm(), 0.0);
  Matrix nearly(2, 2);
  nearly << 1.0, 1.0, 1.0, 1.0 + 1e-9;
  EXPECT_EQ(pseudo_inverse(nearly).rank, 2);  // bad, but full rank
  nearly(1, 1) = 1.0 + 2.3e-16;               // the next double after 1
  EXPECT_EQ(pseudo_inverse(nearly).rank, 1);
}

TEST(PseudoInverse, RefusesWhatHasNone) {
  EXPECT_THAT([] { (void)pseudo_inverse(Matrix(0, 3)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("empty 0x3 matrix")));
  Matrix bad = Matrix::Ones(2, 2);
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { (void)pseudo_inverse(bad); },
              ThrowsMessage<InvalidArgument>(HasSubstr("not finite")));
}

RC_GTEST_PROP(Conditioning, OfSmallMatricesIsThatOfThePseudoInverse, ()) {
  const int rows = *rc::gen::inRange(1, 30).as("rows");
  const int cols = *rc::gen::inRange(1, 30).as("columns");
  const int rank = *rc::gen::inRange(1, std::min(rows, cols) + 1).as("rank");
  Rng rng({test::any_seed(), 0, Role::test});
  const Matrix a = random_matrix(rows, rank, rng) * random_matrix(rank, cols, rng);
  const Conditioning found = analyse_conditioning(a);
  const PseudoInverse expected = pseudo_inverse(a);
  RC_ASSERT(found.singular_values == expected.singular_values);
  RC_ASSERT(found.rank == expected.rank);
  RC_ASSERT(found.smallest == expected.smallest);
}

// U diag(σ) Vᵀ of all shapes with σ from 1 down to 1e-12, where a Gram matrix sees nothing, then 0.
TEST(Conditioning, OfLargeMatricesKeepsSmallSingularValues) {
  for (const auto& [rows, cols] : {std::pair{150, 120}, {120, 150}, {3000, 110}, {110, 3000}}) {
    Rng rng({17, 0, Role::test});
    const int rank = 100;
    const Eigen::HouseholderQR<Eigen::MatrixXd> left(random_matrix(rows, rank, rng));
    const Eigen::HouseholderQR<Eigen::MatrixXd> right(random_matrix(cols, rank, rng));
    Vector sigma(rank);
    for (int i = 0; i < rank; ++i) sigma(i) = std::pow(10.0, -12.0 * i / (rank - 1));
    const Eigen::MatrixXd u = left.householderQ() * Eigen::MatrixXd::Identity(rows, rank);
    const Eigen::MatrixXd v = right.householderQ() * Eigen::MatrixXd::Identity(cols, rank);
    const Conditioning found = analyse_conditioning(Matrix(u * sigma.asDiagonal() * v.transpose()));
    EXPECT_EQ(found.rank, rank) << rows << "x" << cols;
    EXPECT_LT((found.singular_values.head(rank) - sigma).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT(found.smallest, 1e-14);
  }
}

// Singular values that are all the same, or all but one 0, are where divide and conquer deflates.
TEST(Conditioning, OfLargeMatricesWithRepeatedSingularValues) {
  const Conditioning identity = analyse_conditioning(Matrix::Identity(300, 300));
  EXPECT_EQ(identity.rank, 300);
  EXPECT_NEAR(identity.smallest, 1.0, 1e-14);
  const Conditioning uniform = analyse_conditioning(Matrix::Constant(5000, 200, 1.0 / 5000.0));
  EXPECT_EQ(uniform.rank, 1);
  EXPECT_NEAR(uniform.singular_values(0), std::sqrt(200.0 / 5000.0), 1e-14);
  Matrix blocks = Matrix::Zero(400, 200);  // two observations for each state: σ = √½
  for (int s = 0; s < 200; ++s) blocks(2 * s, s) = blocks(2 * s + 1, s) = 0.5;
  EXPECT_NEAR(analyse_conditioning(blocks).smallest, std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(analyse_conditioning(blocks).singular_values(0), std::sqrt(0.5), 1e-14);
}

TEST(Conditioning, RefusesWhatHasNone) {
  EXPECT_THAT([] { (void)analyse_conditioning(Matrix(0, 3)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("singular values of an empty 0x3 matrix")));
}

TEST(Stationary, TwoStatesByHand) {
  Matrix chain(2, 2);
  chain << 0.9, 0.1, 0.4, 0.6;
  const Vector x = stationary_distribution(chain);
  EXPECT_NEAR(x(0), 0.8, 1e-15);
  EXPECT_NEAR(x(1), 0.2, 1e-15);
}

TEST(Stationary, OneStateAndAPeriodicChain) {
  EXPECT_EQ(stationary_distribution(Matrix::Ones(1, 1))(0), 1.0);
  Matrix cycle(3, 3);
  cycle << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  const Vector x = stationary_distribution(cycle);
  for (int s = 0; s < 3; ++s) EXPECT_NEAR(x(s), 1.0 / 3.0, 1e-15);
}

TEST(Stationary, TransientStatesGetNothing) {
  Matrix chain(3, 3);
  chain << 0.5, 0.3, 0.2, 0.0, 0.9, 0.1, 0.0, 0.4, 0.6;
  const Vector x = stationary_distribution(chain);
  EXPECT_NEAR(x(0), 0.0, 1e-15);
  EXPECT_NEAR(x(1), 0.8, 1e-14);
}

RC_GTEST_PROP(Stationary, IsInvariantAndADistribution, ()) {
  const int size = *rc::gen::inRange(1, 12).as("size");
  Rng rng({test::any_seed(), 0, Role::test});
  const Matrix chain = random_stochastic(size, 0.5, rng);
  const Vector x = stationary_distribution(chain);
  RC_ASSERT(std::abs(x.sum() - 1.0) < 1e-14);
  RC_ASSERT(x.minCoeff() >= 0.0);
  RC_ASSERT(distance(x.transpose() * chain, x.transpose()) < 1e-13);
}

TEST(Stationary, SlowMixingIsStillOneClass) {
  Matrix chain(2, 2);
  chain << 1.0 - 1e-9, 1e-9, 3e-9, 1.0 - 3e-9;
  EXPECT_NEAR(stationary_distribution(chain)(0), 0.75, 1e-6);
}

TEST(Stationary, RefusesSeveralClasses) {
  EXPECT_THAT([] { (void)stationary_distribution(Matrix::Identity(2, 2)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("more than one recurrent class")));
  EXPECT_THAT([] { (void)stationary_distribution(Matrix::Ones(2, 3)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("2x3 matrix")));
}

// Two closed classes with random numbers: rounding must not hide them, not even once in thousands.
TEST(Stationary, RefusesSeveralClassesWhateverTheNumbers) {
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng({seed, 0, Role::test});
    const int first = 1 + static_cast<int>(rng.below(6));
    const int second = 1 + static_cast<int>(rng.below(6));
    Matrix chain = Matrix::Zero(first + second, first + second);
    chain.topLeftCorner(first, first) = random_stochastic(first, 1.0, rng);
    chain.bottomRightCorner(second, second) = random_stochastic(second, 1.0, rng);
    try {
      (void)stationary_distribution(chain);
      ++missed;
    } catch (const InvalidArgument&) {
    }
  }
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace oas
