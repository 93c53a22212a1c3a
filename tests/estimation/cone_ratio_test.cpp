// Twice the fall of a profile beside entries that can only be above 0, against an enumeration of
// which of them are.

#include "oas/estimation/error_bars/detail/cone_ratio.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/error_bars/detail/likelihood_errors.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/problems/corner_models.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

// One number and `others` beside it, independent of each other; letting all of them go makes its
// variance `larger` times that with all of them held.
Matrix leaning(int others, double larger) {
  Matrix precision = Matrix::Identity(others + 1, others + 1);
  for (int i = 1; i <= others; ++i) {
    precision(0, i) = precision(i, 0) = std::sqrt((1.0 - 1.0 / larger) / others);
  }
  return precision.inverse();
}

TEST(ConeRatio, IsOneWithoutCorrelations) {
  EXPECT_EQ(detail::cone_ratio(Matrix::Identity(1, 1)), 1.0);
  EXPECT_NEAR(detail::cone_ratio(Matrix::Identity(5, 5)), 1.0, 1e-9);
  EXPECT_NEAR(detail::cone_ratio(1e-6 * Matrix::Identity(5, 5)), 1.0, 1e-9);
}

// 95 % points of 6,000 draws by another program: 3.82, 4.49, 5.62, 7.24.
TEST(ConeRatio, FallsWithTheNumberThatLeans) {
  EXPECT_NEAR(detail::cone_ratio(leaning(1, 3.0)), 1.0, 0.1);
  EXPECT_NEAR(detail::cone_ratio(leaning(2, 3.0)), 0.86, 0.12);
  EXPECT_NEAR(detail::cone_ratio(leaning(4, 3.0)), 0.68, 0.12);
  EXPECT_NEAR(detail::cone_ratio(leaning(8, 3.0)), 0.53, 0.12);
}

// The least (x - z)'H(x - z) over x >= 0 but for coordinate 0, which is free or held at 0.
double least_distance(const Matrix& precision, const Vector& point, bool held) {
  const Eigen::Index n = point.size();
  double least = std::numeric_limits<double>::infinity();
  for (int subset = 0; subset < (1 << (n - 1)); ++subset) {
    std::vector<Eigen::Index> open;
    if (!held) open.push_back(0);
    for (Eigen::Index i = 1; i < n; ++i) {
      if ((subset >> (i - 1) & 1) != 0) open.push_back(i);
    }
    Vector x = Vector::Zero(n);
    if (!open.empty()) {
      const Vector right = (precision * point)(open);
      const Vector solved = Matrix(precision(open, open)).inverse() * right;
      for (std::size_t k = 0; k < open.size(); ++k) x(open[k]) = solved(static_cast<int>(k));
    }
    if (n > 1 && x.tail(n - 1).minCoeff() < 0.0) continue;
    const Vector left = x - point;
    least = std::min(least, left.dot(precision * left));
  }
  return least;
}

// 4,000 draws know a share of 95 % to 0.35 %, the 400 behind the ratio theirs to 1.1 %.
TEST(ConeRatio, MakesTheFallHoldWhatItPromises) {
  constexpr int kDraws = 4000;
  for (const double larger : {1.5, 3.0, 6.0}) {
    const Matrix covariance = leaning(3, larger);
    const Matrix precision = covariance.inverse();
    const double ratio = detail::cone_ratio(covariance);
    const Matrix root = symmetric_eigen(covariance).vectors *
                        symmetric_eigen(covariance).values.cwiseSqrt().asDiagonal();
    Rng rng({7, 0, Role::test});
    int held = 0;
    Vector normal(4);
    for (int draw = 0; draw < kDraws; ++draw) {
      for (double& one : normal) one = sample_normal(rng);
      const Vector point = root * normal;
      const double fall =
          least_distance(precision, point, true) - least_distance(precision, point, false);
      held += static_cast<int>(ratio * fall <= 3.8415);
    }
    EXPECT_NEAR(static_cast<double>(held) / kDraws, 0.95, 0.03) << larger;
  }
}

// A summit of 600 rows of the model.
struct Climbed {
  explicit Climbed(const Pomdp& model) : rows(model) {
    ClosedLoop loop(model, {.name = "uniform"}, 17);
    Trajectory log;
    loop.advance(600, log);
    rows.append(log.actions, log.observations);
    const LikelihoodFunction likelihood = likelihood_rows(rows, {1}).likelihood;
    const LikelihoodEstimate climbed = maximize_likelihood(
        likelihood, TransitionModel::uniform(model.num_states(), model.num_actions()));
    ObservedInformation information =
        observed_information(likelihood, climbed.transition, climbed.pass);
    summit = detail::make_summit(likelihood, climbed.transition, climbed.pass,
                                 std::move(information.matrix));
    int passes = 0;
    fit = detail::penalised_fit(summit, 600.0, passes);
    ratios = detail::cone_ratios(summit, fit);
    mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(ratios.size());
  }
  TransitionLikelihood rows;
  detail::Summit summit;
  detail::PenalisedFit fit;
  std::vector<double> ratios;
  double mean = 0.0;
};

// States lead to their neighbours alone and are seen through weak sensors.
Pomdp weak_chain() {
  PomdpParts parts = make_problem("corner/birth-death-6").parts();
  std::vector<double> weak;
  for (int i = 0; i < 2 * 6 * 6; ++i) weak.push_back(i / 6 % 6 == i % 6 ? 0.55 : 0.09);
  parts.sensors = ObservationModel(6, 2, 6, std::move(weak));
  return Pomdp(std::move(parts));
}

TEST(ConeRatio, ZerosOfChainsLeanOnTheirEntries) {
  const Climbed chain(weak_chain());
  ASSERT_EQ(chain.ratios.size(), chain.summit.at.values().size());
  EXPECT_LT(chain.mean, 0.9);
  EXPECT_GT(Climbed(make_problem("corner/dense-3")).mean, 0.95);
}

// What one entry of a row of two gains the other loses: their intervals must mirror each other.
TEST(ConeRatio, BothEntriesOfARowOfTwoAreOneNumber) {
  const Climbed climbed(make_problem("pest-control"));
  for (std::size_t i = 0; i < climbed.ratios.size(); i += 2) {
    EXPECT_NEAR(climbed.ratios[i], climbed.ratios[i + 1], 1e-6) << i;
  }
  EXPECT_LT(climbed.mean, 1.0);
}

// The curvature of the likelihood alone: what is expected of half a transition an entry is taken
// out of that with the prior.
TEST(ConeRatio, InformationIsThatOfTheLikelihood) {
  const Climbed chain(make_problem("corner/dense-3"));
  const ObservedInformation alone = observed_information(chain.summit.objective, chain.fit.at,
                                                         chain.summit.objective(chain.fit.at, {}));
  const double largest = alone.matrix.cwiseAbs().maxCoeff();
  EXPECT_LT((chain.fit.information - alone.matrix).cwiseAbs().maxCoeff(), 1e-3 * largest);
}

// The variance of an entry is that of the curvature over the ratio: its own or the mean.
TEST(ConeRatio, WidensRowsThatAreKnownBadly) {
  const Climbed chain(weak_chain());
  detail::ErrorContext context;
  context.rows = 600.0;
  context.visits.assign(chain.summit.references.size(), 1e6);
  int passes = 0;
  const JointErrors errors = detail::likelihood_errors(chain.summit, context, passes);
  int compared = 0;
  for (std::size_t i = 0; i < errors.evidence.size(); ++i) {
    const EntryEvidence& one = errors.evidence[i];
    if (one.is_certain() || one.is_at_bound() || !one.has_opinions()) continue;
    const double variance = errors.factor.row(static_cast<Eigen::Index>(i)).squaredNorm();
    const double ratio = variance / one.variance();
    EXPECT_LE(ratio, chain.ratios[i] + 1e-3) << i;
    EXPECT_LE(ratio, 0.95) << i;
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

// Sensors of α at most 0.05 count as those that do not tell all states apart.
TEST(ConeRatio, SensorsOfTinyAlphaWidenToo) {
  const auto seen_by = [](double alpha) {
    const double more = 0.4 + 0.5 * alpha;
    const double less = 0.4 - 0.5 * alpha;
    std::vector<double> sensors = {0.7, 0.1, 0.1,  0.1,  0.1, 0.7, 0.1,  0.1,
                                   0.1, 0.1, more, less, 0.1, 0.1, less, more};
    const std::vector<double> one = sensors;
    sensors.insert(sensors.end(), one.begin(), one.end());
    PomdpParts parts = make_problem("corner/few-observations").parts();
    parts.observations = Labels(4, "observation");
    parts.sensors = ObservationModel(4, 2, 4, std::move(sensors));
    return Pomdp(std::move(parts));
  };
  Trajectory log;
  ClosedLoop loop(seen_by(0.05), {.name = "uniform"}, 17);
  loop.advance(3000, log);
  const auto learn = [&](double alpha) {
    Evidence evidence = make_evidence("oas-ml", seen_by(alpha));
    evidence.add(log);
    return evidence.estimate();
  };
  const TransitionEstimate below = learn(0.0499);
  const TransitionEstimate above = learn(0.0501);
  const auto width = [](const TransitionEstimate& learned) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 32; ++i) sum += learned.upper[i] - learned.lower[i];
    return sum;
  };
  EXPECT_GT(width(below), 1.02 * width(above));
}

}  // namespace
}  // namespace oas
