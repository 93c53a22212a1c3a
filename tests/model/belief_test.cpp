#include "oas/model/belief.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

TEST(Belief, HoldsADistribution) {
  const Belief belief({0.25, 0.75});
  EXPECT_EQ(belief.num_states(), 2);
  EXPECT_EQ(belief[1], 0.75);
  EXPECT_THAT(belief.values(), ElementsAre(0.25, 0.75));
  EXPECT_EQ(belief, Belief({0.25, 0.75}));
  EXPECT_NE(belief, Belief({0.75, 0.25}));
  EXPECT_THAT(Belief::uniform(4).values(), ElementsAre(0.25, 0.25, 0.25, 0.25));
}

TEST(Belief, ErrorsNameTheValue) {
  EXPECT_THAT(
      [] {
        Belief({0.5, 0.25});
      },
      ThrowsMessage<InvalidArgument>(StrEq("belief sums to 0.75, not to 1")));
  EXPECT_THAT([] { Belief({}); }, ThrowsMessage<InvalidArgument>(StrEq("belief is empty")));
  EXPECT_THAT([] { (void)Belief::uniform(0); },
              ThrowsMessage<InvalidArgument>(StrEq("a belief over 0 states")));
}

TEST(Trajectory, ClearEmptiesEveryColumnAndKeepsTheMemory) {
  Trajectory rows;
  rows.actions.assign(100, Action{1});
  rows.observations.assign(100, kMissing);
  rows.propensities.assign(100, 0.5);
  rows.rewards.assign(100, 1.0);
  rows.states.assign(100, State{2});
  EXPECT_EQ(rows.size(), 100U);
  const Trajectory copy = rows;
  EXPECT_EQ(copy, rows);
  rows.clear();
  EXPECT_EQ(rows, Trajectory{});
  EXPECT_GE(rows.actions.capacity(), 100U);
  EXPECT_GE(rows.states.capacity(), 100U);
  EXPECT_NE(copy, rows);
}

}  // namespace
}  // namespace oas
