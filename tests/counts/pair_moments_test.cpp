#include "oas/counts/pair_moments.hpp"

#include <gmock/gmock.h>
#include <Eigen/SVD>

#include <algorithm>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

// The paper's block matrix 𝔹: block-diagonal over (a,a'), each block Z_a ⊗ Z_a'. Rows are
// (a,a',o,o'), columns (a,a',s,s').
Eigen::MatrixXd block_matrix(const Pomdp& model) {
  const int s = model.num_states();
  const int o = model.num_observations();
  const int pairs = model.num_actions() * model.num_actions();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(pairs * o * o, pairs * s * s);
  for (int pair = 0; pair < pairs; ++pair) {
    const Action first{pair / model.num_actions()};
    const Action second{pair % model.num_actions()};
    for (int row = 0; row < o * o; ++row) {
      for (int column = 0; column < s * s; ++column) {
        result(pair * o * o + row, pair * s * s + column) =
            model.sensors()(first, State{column / s}, Observation{row / o}) *
            model.sensors()(second, State{column % s}, Observation{row % o});
      }
    }
  }
  return result;
}

// The counts as one vector in the order of 𝔹's rows.
Vector count_vector(const PairCounts& counts) {
  const int o = counts.num_observations();
  const int a = counts.num_actions();
  Vector result(a * a * o * o);
  for (int i = 0; i < result.size(); ++i) {
    const int cell = i % (o * o);
    const int pair = i / (o * o);
    result(i) = static_cast<double>(
        counts(Action{pair / a}, Action{pair % a}, Observation{cell / o}, Observation{cell % o}));
  }
  return result;
}

// 𝔹⁺ applied to the counts, then summed over the action that is not learned.
std::vector<Matrix> kronecker_moments(const PairCounts& counts, const Pomdp& model) {
  const int s = model.num_states();
  const int a = model.num_actions();
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(block_matrix(model),
                                              Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Vector d = svd.solve(count_vector(counts));
  std::vector<Matrix> moments(static_cast<std::size_t>(a), Matrix::Zero(s, s));
  for (int pair = 0; pair < a * a; ++pair) {
    const int learned = model.timing() == Timing::before ? pair / a : pair % a;
    moments[static_cast<std::size_t>(learned)] += MatrixView(d.data() + pair * s * s, s, s);
  }
  return moments;
}

RC_GTEST_PROP(Project, EqualsThePapersKroneckerForm, ()) {
  test::RandomModelOptions options;
  options.num_states = *rc::gen::inRange(1, 4).as("states");
  options.num_actions = *rc::gen::inRange(1, 3).as("actions");
  options.num_observations = options.num_states + *rc::gen::inRange(0, 2).as("more observations");
  options.timing = test::any_timing();
  options.min_alpha = 0.2;
  const Pomdp model = test::random_model(options, test::any_seed());
  const Trajectory rows = test::play_uniformly(model, 500, 0.05, test::any_seed());
  PairCounts counts(model.num_actions(), model.num_observations());
  counts.add_run(rows.actions, rows.observations, Pairing::overlapping);
  const PairMoments moments = project(counts, LeftInverses(model), model.timing());
  const std::vector<Matrix> expected = kronecker_moments(counts, model);
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix difference = moments.matrix(a) - expected[static_cast<std::size_t>(a)];
    RC_ASSERT(difference.norm() < 1e-12 * static_cast<double>(counts.total()));
  }
}

RC_GTEST_PROP(Project, CountsPairsOfTheLearnedAction, ()) {
  test::RandomModelOptions options;
  options.timing = test::any_timing();
  options.min_alpha = 0.01;
  const Pomdp model = test::random_model(options, 1);
  const Trajectory rows = test::random_rows_of_log(2, 4, 100, 0.2, test::any_seed());
  PairCounts counts(2, 4);
  counts.add_run(rows.actions, rows.observations, Pairing::overlapping);
  std::vector<std::int64_t> expected(2, 0);
  for (std::size_t t = 0; t + 1 < rows.size(); ++t) {
    if (rows.observations[t] == kMissing || rows.observations[t + 1] == kMissing) continue;
    const std::size_t learned = options.timing == Timing::before ? t : t + 1;
    ++expected[static_cast<std::size_t>(rows.actions[learned])];
  }
  const PairMoments moments = project(counts, LeftInverses(model), options.timing);
  RC_ASSERT(moments.pairs == expected);
  RC_ASSERT(moments.total_pairs() == counts.total());
}

// Noiseless sensors: L picks the state out of the observation, so D_a counts transitions.
TEST(Project, PerfectSensorsCountTransitions) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    PomdpParts parts;
    parts.timing = timing;
    parts.states = Labels(2, "state");
    parts.actions = Labels(2, "action");
    parts.observations = Labels(2, "observation");
    parts.sensors = ObservationModel(2, 2, 2, {1, 0, 0, 1, 0, 1, 1, 0});  // action 1 swaps names
    const Pomdp model(std::move(parts));
    PairCounts counts(2, 2);
    counts.add(Action{0}, Observation{1}, Action{1}, Observation{1});  // state 1, then state 0
    counts.add(Action{0}, Observation{1}, Action{1}, Observation{1});
    counts.add(Action{1}, Observation{1}, Action{1}, Observation{0});  // state 0, then state 1
    const PairMoments moments = project(counts, LeftInverses(model), timing);
    Matrix first = Matrix::Zero(2, 2);
    Matrix second = Matrix::Zero(2, 2);
    (timing == Timing::before ? first : second)(1, 0) = 2.0;
    second(0, 1) = 1.0;
    EXPECT_LT((moments.matrix(0) - first).norm(), 1e-14) << to_string(timing);
    EXPECT_LT((moments.matrix(1) - second).norm(), 1e-14) << to_string(timing);
  }
}

TEST(Project, SizesMustAgree) {
  test::RandomModelOptions options;
  options.min_alpha = 0.01;
  const LeftInverses inverses(test::random_model(options, 1));
  EXPECT_THAT([&] { (void)project(PairCounts(2, 3), inverses, Timing::before); },
              ThrowsMessage<InvalidArgument>(StrEq("counts for 2 actions, 3 observations where the "
                                                   "sensors have 2 and 4")));
}

// Perfect sensors, one action: state 0 five times with weight 20, state 1 ten times with 1 and once
// with 10.
TEST(PairMoments, WeightsCountForWhatTheyAreWorth) {
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.states = Labels(2, "s");
  parts.actions = Labels(1, "a");
  parts.observations = Labels(2, "o");
  parts.sensors = ObservationModel(2, 1, 2, {1.0, 0.0, 0.0, 1.0});
  const LeftInverses inverses{Pomdp(std::move(parts))};
  PairMoments moments(2, 1);
  const auto add = [&](int state, double weight, int times) {
    for (int i = 0; i < times; ++i) {
      add_pair({Action{0}, Observation{state}}, {Action{0}, Observation{i % 2}}, weight, inverses,
               Timing::after, moments);
    }
  };
  EXPECT_EQ(moments.effective_visits(0), 0.0);
  add(0, 20.0, 5);
  add(1, 1.0, 10);
  add(1, 10.0, 1);
  EXPECT_NEAR(moments.row_mass(0), 100.0, 1e-12);
  EXPECT_NEAR(moments.effective_visits(0), 5.0, 1e-12);
  EXPECT_NEAR(moments.effective_visits(1), 400.0 / 110.0, 1e-12);
  moments.multiply(0.25);  // the same to all
  EXPECT_NEAR(moments.effective_visits(1), 400.0 / 110.0, 1e-12);
  PairMoments older = moments;
  older.multiply(0.5);
  moments.add(older);  // Σw = 1.5, Σw² = 1.25
  EXPECT_NEAR(moments.effective_visits(0), 5.0 * 2.25 / 1.25, 1e-12);
}

// Without weights a visit is a visit, whether pairs are counted or summed.
TEST(PairMoments, EqualWeightsAreWorthTheRowMass) {
  test::RandomModelOptions options;
  options.min_alpha = 0.1;
  const LeftInverses inverses(test::random_model(options, 4));
  PairCounts counts(inverses.num_sensors(), inverses.num_observations());
  PairMoments summed(inverses.num_states(), inverses.num_actions());
  Rng rng({9, 0, Role::bootstrap});
  const auto any = [&](int n) {
    return static_cast<int>(rng.below(static_cast<std::uint32_t>(n)));
  };
  for (int i = 0; i < 500; ++i) {
    const PairRow first{Action{any(inverses.num_actions())},
                        Observation{any(inverses.num_observations())}};
    const PairRow second{Action{any(inverses.num_actions())},
                         Observation{any(inverses.num_observations())}};
    counts.add(first.action, first.observation, second.action, second.observation);
    add_pair(first, second, 1.0, inverses, Timing::before, summed);
  }
  const PairMoments counted = project(counts, inverses, Timing::before);
  for (std::size_t row = 0; row < counted.squares.size(); ++row) {
    EXPECT_NEAR(summed.squares[row], counted.squares[row], 1e-9);
    EXPECT_EQ(counted.squares[row], counted.row_mass(row));
    const double mass = counted.row_mass(row);
    const auto pairs =
        static_cast<double>(counted.pairs[row / static_cast<std::size_t>(inverses.num_states())]);
    EXPECT_NEAR(counted.effective_visits(row), std::clamp(mass, 0.0, pairs), 1e-9 * pairs);
  }
}

TEST(PairMoments, AddAndClear) {
  PairMoments x(2, 1);
  EXPECT_EQ(x.sums.size(), 4U);
  PairMoments y(2, 1);
  y.sums = {1, 2, 3, 4};
  y.pairs = {5};
  x.add(y);
  x.add(y);
  EXPECT_THAT(x.sums, testing::ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(x.total_pairs(), 10);
  EXPECT_EQ(x.matrix(0)(0, 1), 4.0);
  x.clear();
  EXPECT_EQ(x, PairMoments(2, 1));
  EXPECT_THAT([&] { x.add(PairMoments(1, 2)); },
              ThrowsMessage<InvalidArgument>(StrEq("moments of 2 states, 1 actions cannot take in "
                                                   "moments of 1 and 2")));
}

}  // namespace
}  // namespace oas
