#include "oas/model/reward_table.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/model/reward.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Sizes {
  int states;
  int actions;
  int observations;
};

Sizes any_sizes() {
  return {*rc::gen::inRange(1, 4).as("states"), *rc::gen::inRange(1, 4).as("actions"),
          *rc::gen::inRange(1, 4).as("observations")};
}

// Few values, many wildcards: rows are often equal, and exceptions vanish again.
std::vector<RewardRule> any_rules(const Sizes& sizes) {
  const auto index = [](int size) { return *rc::gen::inRange(-1, size); };
  std::vector<RewardRule> rules;
  const int count = *rc::gen::inRange(0, 12).as("rules");
  for (int i = 0; i < count; ++i) {
    rules.push_back({index(sizes.actions), index(sizes.states), index(sizes.states),
                     index(sizes.observations), static_cast<double>(*rc::gen::inRange(-1, 3))});
  }
  return rules;
}

// All numbers, written rule by rule.
std::vector<double> dense(const Sizes& sizes, const std::vector<RewardRule>& rules) {
  std::vector<double> values;
  const auto hits = [](int rule, int index) { return rule == RewardRule::kAny || rule == index; };
  for (int a = 0; a < sizes.actions; ++a) {
    for (int s = 0; s < sizes.states; ++s) {
      for (int next = 0; next < sizes.states; ++next) {
        for (int o = 0; o < sizes.observations; ++o) {
          double value = 0.0;
          for (const RewardRule& r : rules) {
            if (hits(r.action, a) && hits(r.state, s) && hits(r.next, next) &&
                hits(r.observation, o)) {
              value = r.value;
            }
          }
          values.push_back(value);
        }
      }
    }
  }
  return values;
}

RewardTable table_of(const Sizes& sizes, const std::vector<RewardRule>& rules) {
  return {sizes.states, sizes.actions, sizes.observations, rules};
}

RC_GTEST_PROP(RewardTable, LastRuleCountsAndTheFormIsUnique, ()) {
  const Sizes sizes = any_sizes();
  const auto rules = any_rules(sizes);
  const RewardTable table = table_of(sizes, rules);
  const auto values = dense(sizes, rules);
  std::size_t i = 0;
  for (int a = 0; a < sizes.actions; ++a) {
    for (int s = 0; s < sizes.states; ++s) {
      for (int next = 0; next < sizes.states; ++next) {
        for (int o = 0; o < sizes.observations; ++o) RC_ASSERT(table(a, s, next, o) == values[i++]);
      }
    }
  }
  RC_ASSERT(table == table_of(sizes, table.rules()));
  RC_ASSERT(table ==
            RewardTable::from_dense(sizes.states, sizes.actions, sizes.observations, values));
}

// Whatever is simplest, planning sees the same expected rewards.
RC_GTEST_PROP(RewardTable, SimplestFormHasTheSameExpectation, ()) {
  const Pomdp model = test::any_model(4, 3, 4);
  const Sizes sizes{model.num_states(), model.num_actions(), model.num_observations()};
  const RewardTable table = table_of(sizes, any_rules(sizes));
  const auto expected = [&](const Reward& reward) {
    return expected_reward(reward, model.timing(), model.sensors(), &model.transition());
  };
  const Matrix full = expected(Reward::by_table(table));
  RC_ASSERT((expected(Reward::simplest(table)) - full).cwiseAbs().maxCoeff() < 1e-12);
  const Reward simple = Reward::simplest(table);
  RC_ASSERT(simple.to_table(sizes.states, sizes.actions, sizes.observations) == table);
}

TEST(RewardTable, RulesAreFew) {
  const RewardTable all(100, 10, 30, std::vector<RewardRule>{{-1, -1, 7, 3, 2.0}});
  EXPECT_THAT(all.rules(), ElementsAre(RewardRule{-1, -1, 7, 3, 2.0}));
  const RewardTable one(100, 10, 30, std::vector<RewardRule>{{4, -1, -1, -1, 1.0}});
  EXPECT_THAT(one.rules(), ElementsAre(RewardRule{4, -1, -1, -1, 1.0}));
  EXPECT_TRUE(table_of({2, 2, 2}, {}).rules().empty());
}

TEST(RewardTable, RejectsWhatIsOutside) {
  const auto make = [](RewardRule rule, std::size_t limit = 1000) {
    return [=] { RewardTable(2, 3, 4, std::vector<RewardRule>{rule}, limit); };
  };
  for (const RewardRule rule :
       {RewardRule{3, 0, 0, 0, 0}, RewardRule{0, 2, 0, 0, 0}, RewardRule{0, 0, 2, 0, 0},
        RewardRule{0, 0, 0, 4, 0}, RewardRule{-2, 0, 0, 0, 0}}) {
    EXPECT_THAT(make(rule), ThrowsMessage<InvalidArgument>(HasSubstr("is outside 3 actions")));
  }
  EXPECT_THAT(make({0, 0, 0, 0, 1.0 / 0.0}), ThrowsMessage<InvalidArgument>(HasSubstr("finite")));
  EXPECT_THAT(make({-1, -1, 0, 0, 1.0}, 5),
              ThrowsMessage<InvalidArgument>(HasSubstr("limit of 5 entries")));
}

TEST(Reward, SimplestKind) {
  const auto kind = [](const std::vector<RewardRule>& rules) {
    return Reward::simplest(table_of({2, 2, 2}, rules)).kind();
  };
  EXPECT_EQ(kind({}), Reward::Kind::none);
  EXPECT_EQ(kind({{-1, -1, -1, -1, 1.0}}), Reward::Kind::by_action_state);
  EXPECT_EQ(kind({{0, 1, -1, -1, 1.0}}), Reward::Kind::by_action_state);
  EXPECT_EQ(kind({{-1, -1, -1, 0, 1.0}}), Reward::Kind::by_observation);
  EXPECT_EQ(kind({{0, -1, -1, 0, 1.0}}), Reward::Kind::by_transition);
  EXPECT_EQ(kind({{-1, -1, 1, -1, 1.0}}), Reward::Kind::by_transition);
}

}  // namespace
}  // namespace oas
