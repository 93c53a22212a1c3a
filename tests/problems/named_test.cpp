#include "oas/problems/named.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/model/model_json.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/theory/communication.hpp"
#include "oas/theory/ergodicity.hpp"
#include "support/pomdp_invariants.hpp"

namespace oas {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kModels = OAS_SOURCE_DIR "/models/";

std::string underscored(std::string_view problem) {
  std::string name(problem);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string file_of(std::string_view problem) { return kModels + underscored(problem) + ".json"; }

// How often each action is chosen, as a share of all steps.
std::vector<double> action_shares(const Pomdp& model, const PolicyOptions& policy,
                                  std::size_t steps) {
  ClosedLoop loop(model, policy, /*seed=*/17);
  Trajectory run;
  loop.advance(steps, run);
  std::vector<double> shares(static_cast<std::size_t>(model.num_actions()), 0.0);
  for (const Action action : run.actions) {
    shares[static_cast<std::size_t>(action)] += 1.0 / static_cast<double>(steps);
  }
  return shares;
}

double mean_reward(const Pomdp& model, const PolicyOptions& policy, std::size_t steps) {
  ClosedLoop loop(model, policy, /*seed=*/18);
  Trajectory run;
  loop.advance(steps, run);
  double sum = 0.0;
  for (const double reward : run.rewards) sum += reward;
  return sum / static_cast<double>(steps);
}

class NamedProblem : public testing::TestWithParam<ProblemInfo> {
 protected:
  const Pomdp model_ = GetParam().make();
};

TEST_P(NamedProblem, KeepsTheInvariantsOfModels) { test::expect_pomdp_invariants(model_); }

TEST_P(NamedProblem, HasNamesForEverything) {
  EXPECT_TRUE(model_.states().has_names());
  EXPECT_TRUE(model_.actions().has_names());
  EXPECT_TRUE(model_.observations().has_names());
  EXPECT_FALSE(GetParam().summary.empty());
}

TEST_P(NamedProblem, SensorsRevealTheStateUnderEveryAction) {
  const SensorReport report = analyse_sensors(model_.sensors());
  EXPECT_GT(report.alpha, 0.1) << report.brief();
}

TEST_P(NamedProblem, IsErgodicUnderEveryPolicy) {
  EXPECT_GT(smallest_transition(model_.transition()), 0.0);
  EXPECT_TRUE(analyse_communication(model_.transition(), model_.start()).ergodic());
}

TEST_P(NamedProblem, RewardsLieInTheUnitInterval) {
  for (const double reward : model_.reward().values()) {
    EXPECT_GE(reward, 0.0);
    EXPECT_LE(reward, 1.0);
  }
}

// Otherwise there would be nothing to decide.
TEST_P(NamedProblem, TheMyopicPolicyUsesSeveralActionsAndBeatsUniformOnes) {
  PolicyOptions myopic;
  myopic.min_action_probability = 0.0;
  const std::vector<double> shares = action_shares(model_, myopic, 20'000);
  const auto used =
      std::count_if(shares.begin(), shares.end(), [](double share) { return share > 0.01; });
  EXPECT_GE(used, 2) << testing::PrintToString(shares);
  PolicyOptions uniform;
  uniform.name = "uniform";
  EXPECT_GT(mean_reward(model_, myopic, 20'000), mean_reward(model_, uniform, 20'000));
}

TEST_P(NamedProblem, EqualsItsModelFile) {
  EXPECT_TRUE(read_model(file_of(GetParam().name)) == model_) << file_of(GetParam().name);
}

TEST_P(NamedProblem, IsFoundByName) { EXPECT_TRUE(make_problem(GetParam().name) == model_); }

INSTANTIATE_TEST_SUITE_P(All, NamedProblem, testing::ValuesIn(problems().begin(), problems().end()),
                         [](const auto& parameter) { return underscored(parameter.param.name); });

TEST(NamedProblems, ModelFilesAreTheseProblemsAndNoOthers) {
  std::set<std::string> expected;
  for (const ProblemInfo& info : problems()) expected.insert(file_of(info.name));
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (entry.path().extension() == ".json") found.insert(entry.path().string());
  }
  EXPECT_EQ(found, expected);
}

TEST(NamedProblems, NamesAreUniqueAndBothTimingsAndBothKindsOfRewardOccur) {
  std::set<std::string_view> names;
  std::set<Timing> timings;
  std::set<Reward::Kind> kinds;
  for (const ProblemInfo& info : problems()) {
    names.insert(info.name);
    timings.insert(info.make().timing());
    kinds.insert(info.make().reward().kind());
  }
  EXPECT_EQ(names.size(), problems().size());
  EXPECT_EQ(timings.size(), 2);
  EXPECT_EQ(kinds, (std::set{Reward::Kind::by_observation, Reward::Kind::by_action_state}));
}

TEST(NamedProblems, UnknownNameListsTheKnownOnes) {
  try {
    static_cast<void>(make_problem("tiger"));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'tiger'"), HasSubstr("machine-maintenance"),
                                    HasSubstr("pest-control")));
  }
}

}  // namespace
}  // namespace oas
