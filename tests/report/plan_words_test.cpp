#include "oas/report/plan_words.hpp"

#include <gmock/gmock.h>

#include "oas/problems/named.hpp"

/// What a plan promises, in plain words.
namespace oas {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class WordsOfPlan : public testing::Test {
 protected:
  WordsOfPlan() {
    plan_.gain_lower = 0.5;
    plan_.gain_upper = 0.625;
    plan_.certificate.level = 0.999;
  }

  Plan plan_{make_problem("pest-control")};
};

TEST_F(WordsOfPlan, OfTheLongRun) {
  const PlanWords words = words_of(plan_);
  EXPECT_THAT(words.answer,
              ElementsAre("The plan earns between 0.5 and 0.625 a step in the long run."));
  EXPECT_THAT(words.details, ElementsAre(AllOf(HasSubstr("0.5 (certified"), HasSubstr("0.999"),
                                               HasSubstr("0.625 (proved"))));
  EXPECT_EQ(words.fact, plan_.brief());
}

// The gains of the plan itself carry the penalty: they are not for the manager.
TEST_F(WordsOfPlan, OfALimit) {
  plan_.limited = LimitedStates{{"few", "many"}, 0.1, 3.5, 0.09, 0.095, 0.75, 0.875};
  const PlanWords words = words_of(plan_);
  EXPECT_THAT(words.answer,
              ElementsAre("The plan earns between 0.75 and 0.875 a step in the long run, while 9 % "
                          "of the steps are spent in few or many (the limit is 10 %)."));
  EXPECT_THAT(words.details,
              ElementsAre(AllOf(HasSubstr("0.75 (certified"), HasSubstr("0.875 (proved")),
                          AllOf(HasSubstr("at most 9.5 %"), HasSubstr("a loss of 3.5"))));
  for (const std::string& detail : words.details) EXPECT_THAT(detail, Not(HasSubstr("0.625")));
  EXPECT_THAT(words.fact, HasSubstr("with the loss of 3.5 for each step in few or many: gain in"));
}

TEST_F(WordsOfPlan, OfADiscount) {
  plan_.discounted = DiscountedValue{0.95, 17.25, 17.5};
  const PlanWords words = words_of(plan_);
  EXPECT_THAT(words.answer,
              ElementsAre("From the start the plan earns between 17.25 and 17.5 in all, where a "
                          "reward counts 0.95 times as much for each step that it comes later."));
  EXPECT_THAT(words.details, ElementsAre(AllOf(HasSubstr("17.25 (certified"), HasSubstr("17.5 (")),
                                         AllOf(HasSubstr("at least 0.5 a step"))));
}

TEST_F(WordsOfPlan, OfDrawsAndOptimism) {
  plan_.posterior = PosteriorGain{0.9, 200, 0.4375, 0.25, 0.5625};
  plan_.optimism = Optimism{0.1, 0.7};
  const PlanWords words = words_of(plan_);
  EXPECT_THAT(words.answer,
              ElementsAre(HasSubstr("in the most favourable model that was thought possible"),
                          HasSubstr("0.4375 a step on average, and between 0.25 and 0.5625 with a "
                                    "probability of 90 %")));
  ASSERT_EQ(words.details.size(), 2U);
  EXPECT_THAT(words.details.back(), HasSubstr("In 200 models"));
}

}  // namespace
}  // namespace oas
