#include "oas/problems/corner_models.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/pomdp_invariants.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

double alpha_of(const char* name) { return analyse_sensors(make_problem(name).sensors()).alpha; }

std::int64_t entries_equal_to(const Pomdp& model, double value) {
  const auto values = model.transition().values();
  return std::count(values.begin(), values.end(), value);
}

class CornerModel : public testing::TestWithParam<ProblemInfo> {
 protected:
  const Pomdp model_ = GetParam().make();
};

TEST_P(CornerModel, KeepsTheInvariantsOfModels) { test::expect_pomdp_invariants(model_); }

TEST_P(CornerModel, IsFoundByName) {
  EXPECT_THAT(std::string(GetParam().name), StartsWith("corner/"));
  EXPECT_FALSE(GetParam().summary.empty());
  EXPECT_TRUE(make_problem(GetParam().name) == model_);
  ASSERT_NE(find_problem(GetParam().name), nullptr);
}

// Rewards that make a policy react, and no observation that stops it.
TEST_P(CornerModel, EveryPolicyCanLogIt) {
  for (const PolicyInfo& policy : policies()) {
    ClosedLoop loop(model_, {.name = std::string(policy.name)}, 3);
    Trajectory log;
    loop.advance(200, log);
    EXPECT_EQ(log.size(), 200U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CornerModel,
                         testing::ValuesIn(corner_models().begin(), corner_models().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name.substr(7));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(CornerModels, NamesAreUniqueAndThereAreMany) {
  std::set<std::string_view> names;
  for (const ProblemInfo& info : corner_models()) names.insert(info.name);
  EXPECT_EQ(names.size(), corner_models().size());
  EXPECT_GE(names.size(), 30U);
}

// What each name promises of the sensors.
TEST(CornerModels, SensorsAreAsTheirNamesSay) {
  EXPECT_NEAR(alpha_of("corner/weak-action"), 0.05, 1e-12);
  EXPECT_NEAR(alpha_of("corner/weak"), 0.2, 1e-12);
  EXPECT_NEAR(alpha_of("corner/perfect-dense"), 1.0, 1e-12);
  for (const char* name : {"corner/blind", "corner/blind-action", "corner/twins",
                           "corner/listen-or-act", "corner/few-observations"}) {
    EXPECT_NEAR(alpha_of(name), 0.0, 1e-9) << name;
  }
  EXPECT_EQ(make_problem("corner/many-observations").num_observations(), 30);
}

// And of the dynamics.
TEST(CornerModels, ChainsAreAsTheirNamesSay) {
  EXPECT_EQ(entries_equal_to(make_problem("corner/ring-4"), 1.0), 8);
  EXPECT_EQ(entries_equal_to(make_problem("corner/ring-4-noisy"), 0.9), 8);
  EXPECT_EQ(entries_equal_to(make_problem("corner/still"), 1.0), 6);
  EXPECT_EQ(entries_equal_to(make_problem("corner/dense-5"), 0.0), 0);
  const Pomdp wear = make_problem("corner/wear-out");
  for (Action a{0}; a < wear.num_actions(); ++a) {
    EXPECT_EQ(wear.transition()(a, State{2}, State{2}), 1.0);
  }
  const Pomdp pairs = make_problem("corner/reducible");
  EXPECT_EQ(pairs.transition()(Action{0}, State{0}, State{2}), 0.0);
  EXPECT_EQ(pairs.transition()(Action{1}, State{3}, State{1}), 0.0);
  EXPECT_EQ(make_problem("corner/dense-3-after").timing(), Timing::after);
}

TEST(CornerModels, UnknownNamesAreErrors) {
  EXPECT_EQ(find_problem("corner/none"), nullptr);
  try {
    static_cast<void>(make_problem("corner/none"));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("oas list"));
  }
}

}  // namespace
}  // namespace oas
