#include "oas/theory/communication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/theory/ergodicity.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<double> kFirst3 = {1.0, 0.0, 0.0};

// A ring of n states, one action.
TransitionModel ring(int n) {
  std::vector<double> values(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0);
  for (int s = 0; s < n; ++s) values[static_cast<std::size_t>(s * n + (s + 1) % n)] = 1.0;
  return {n, 1, values};
}

TEST(Communication, RingIsConnectedWithItsLengthAsPeriod) {
  const CommunicationReport report = analyse_communication(ring(3), kFirst3);
  EXPECT_TRUE(report.strongly_connected());
  EXPECT_EQ(report.period, 3);
  EXPECT_FALSE(report.ergodic());
  EXPECT_THAT(report.unreachable, IsEmpty());
  EXPECT_EQ(report.brief(), "all states reach each other, period 3");
}

TEST(Communication, OneSelfLoopMakesARingAperiodic) {
  const TransitionModel model(3, 1, {0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0});
  EXPECT_TRUE(analyse_communication(model, kFirst3).ergodic());
}

TEST(Communication, ActionsTogetherConnectWhatEachAloneDoesNot) {
  const TransitionModel up_and_down(3, 2,
                                    {0, 1, 0, 0, 0, 1, 0, 0, 1,  //
                                     1, 0, 0, 1, 0, 0, 0, 1, 0});
  const CommunicationReport report = analyse_communication(up_and_down, kFirst3);
  EXPECT_TRUE(report.ergodic());
  EXPECT_THAT(report.absorbing, IsEmpty());  // each end is left by the other action
}

TEST(Communication, TransientClosedAndUnreachableStates) {
  // 0 → {1, 2}; 1 stays; 2 ⇄ 3; 4 → 0 but nothing leads to 4.
  const TransitionModel model(5, 1, {0, 0.5, 0.5, 0, 0,  //
                                     0, 1,   0,   0, 0,  //
                                     0, 0,   0,   1, 0,  //
                                     0, 0,   1,   0, 0,  //
                                     1, 0,   0,   0, 0});
  const CommunicationReport report =
      analyse_communication(model, std::vector<double>{1.0, 0.0, 0.0, 0.0, 0.0});
  EXPECT_EQ(report.num_classes(), 4);
  EXPECT_EQ(report.num_closed_classes(), 2);
  EXPECT_EQ(report.class_of[2], report.class_of[3]);
  EXPECT_NE(report.class_of[0], report.class_of[4]);
  EXPECT_THAT(report.absorbing, ElementsAre(State{1}));
  EXPECT_THAT(report.unreachable, ElementsAre(State{4}));
  EXPECT_EQ(report.period, 2);
  EXPECT_EQ(report.brief(),
            "4 classes of states, 2 of them closed, period 2, 1 absorbing, "
            "1 out of reach of the start");
}

TEST(Communication, PeriodOfTwoRingsIsTheirCommonMultiple) {
  std::vector<double> values(25, 0.0);
  for (const int arrow : {0 * 5 + 1, 1 * 5 + 0, 2 * 5 + 3, 3 * 5 + 4, 4 * 5 + 2}) {
    values[static_cast<std::size_t>(arrow)] = 1.0;
  }
  const std::vector<double> start(5, 0.2);
  EXPECT_EQ(analyse_communication({5, 1, values}, start).period, 6);
}

// Rings of 2, 3, 5, … 53 states: their product is 3.3e19, which no long holds.
TEST(Communication, PeriodsThatNoNumberHoldsAreCut) {
  const std::vector<int> lengths = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  const int n = std::accumulate(lengths.begin(), lengths.end(), 0);
  std::vector<double> values(static_cast<std::size_t>(n * n), 0.0);
  int first = 0;
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i) {
      values[static_cast<std::size_t>((first + i) * n + first + (i + 1) % length)] = 1.0;
    }
    first += length;
  }
  const std::vector<double> start(static_cast<std::size_t>(n), 1.0 / n);
  const CommunicationReport report = analyse_communication({n, 1, values}, start);
  EXPECT_EQ(report.period, CommunicationReport::kLongestPeriod);
  EXPECT_THAT(report.brief(), testing::HasSubstr(", period 10^18 or more"));
}

// Every state a class of its own: looking at all states for each class would take hours.
TEST(Communication, ManyClosedClassesTakeLinearTime) {
  const int n = 500'000;
  std::vector<ProbabilityEntry> entries;
  std::vector<std::size_t> row_starts = {0};
  for (int s = 0; s < n; ++s) {
    entries.push_back({s, 1.0});
    row_starts.push_back(entries.size());
  }
  const TransitionModel identity =
      TransitionModel::listed(n, 1, std::move(entries), std::move(row_starts));
  const CommunicationReport report =
      analyse_communication(identity, std::vector<double>(static_cast<std::size_t>(n), 1.0 / n));
  EXPECT_EQ(report.num_closed_classes(), n);
  EXPECT_EQ(report.period, 1);
}

TEST(Communication, LongChainsDoNotExhaustTheStack) {
  const int n = 3000;
  const std::vector<double> start(static_cast<std::size_t>(n), 1.0 / n);
  EXPECT_EQ(analyse_communication(ring(n), start).period, n);
}

TEST(Communication, WrongStartAndFreshReport) {
  EXPECT_THROW(static_cast<void>(analyse_communication(ring(4), kFirst3)), InvalidArgument);
  EXPECT_FALSE(CommunicationReport{}.ergodic());
  EXPECT_EQ(CommunicationReport{}.brief(), "not analysed");
}

// Reference: s reaches t when some power of I + Σ_a T_a has a positive entry.
RC_GTEST_PROP(Communication, ClassesAgreeWithMatrixPowers, ()) {
  test::RandomModelOptions options;
  options.num_states = *rc::gen::inRange(1, 9).as("states");
  options.num_actions = 1;
  options.zero_fraction = *rc::gen::element(0.3, 0.7, 0.85).as("zero fraction");
  const Pomdp model = test::random_model(options, test::any_seed());
  const auto report = analyse_communication(model.transition(), model.start());
  const int n = model.num_states();
  const Matrix step = (model.transition().matrix(Action{0}).array() > 0.0).cast<double>();
  Matrix reach = Matrix::Identity(n, n);
  for (int i = 0; i < n; ++i) {
    reach = ((reach + reach * step).array() > 0.0).cast<double>().matrix().eval();
  }
  for (int s = 0; s < n; ++s) {
    bool reachable = false;
    bool closed = true;
    for (int t = 0; t < n; ++t) {
      const bool together = reach(s, t) > 0.0 && reach(t, s) > 0.0;
      RC_ASSERT(together == (report.class_of[static_cast<std::size_t>(s)] ==
                             report.class_of[static_cast<std::size_t>(t)]));
      closed = closed && (reach(s, t) == 0.0 || together);
      reachable =
          reachable || (model.start()[static_cast<std::size_t>(t)] > 0.0 && reach(t, s) > 0);
    }
    const auto id = static_cast<std::size_t>(report.class_of[static_cast<std::size_t>(s)]);
    RC_ASSERT(report.class_closed[id] == closed);
    const auto& lost = report.unreachable;
    RC_ASSERT(reachable == (std::find(lost.begin(), lost.end(), State{s}) == lost.end()));
  }
}

// The number of eigenvalues of modulus one of a connected chain is its period.
RC_GTEST_PROP(Communication, PeriodAgreesWithTheSpectrum, ()) {
  test::RandomModelOptions options;
  options.num_states = *rc::gen::inRange(2, 7).as("states");
  options.num_actions = 1;
  options.concentration = 5.0;
  options.zero_fraction = *rc::gen::element(0.5, 0.7).as("zero fraction");
  const Pomdp model = test::random_model(options, test::any_seed());
  const auto report = analyse_communication(model.transition(), model.start());
  RC_PRE(report.strongly_connected());
  const double second = second_eigenvalue_modulus(uniform_policy_chain(model.transition()));
  RC_ASSERT((report.period > 1) == (second > 1.0 - 1e-6));
}

}  // namespace
}  // namespace oas
