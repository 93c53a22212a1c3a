#include <string>
#include <vector>

#include "corners/corner_grid.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/agents.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {
namespace {

class AgentCorner : public testing::TestWithParam<test::Corner> {};

constexpr int kSteps = 160;

// Several episodes in so few steps, and plans that cost little.
std::vector<Setting> quick_settings(const AgentInfo& info) {
  const std::vector<Setting> wanted = {{"first_episode", "40"},
                                       {"resolution", "2"},
                                       {"tau1", "20"},
                                       {"tau2", "40"},
                                       {"particles", "10"}};
  std::vector<Setting> settings;
  for (const SettingInfo& known : info.settings()) {
    for (const Setting& setting : wanted) {
      if (setting.name == known.name) settings.push_back(setting);
    }
  }
  return settings;
}

void play(AnyAgent& agent, const Pomdp& model) {
  Environment environment(model, Rng({4, 0, Role::environment}));
  Rng rng({4, 0, Role::agent});
  std::vector<double> policy(static_cast<std::size_t>(model.num_actions()));
  for (int t = 0; t < kSteps && !testing::Test::HasFailure(); ++t) {
    agent.probabilities(policy);
    test::expect_distribution(policy);
    const Choice choice = agent.act(rng);
    ASSERT_LT(choice.action, model.num_actions());
    const auto chosen = static_cast<std::size_t>(choice.action.value());
    EXPECT_NEAR(choice.propensity, policy[chosen], 1e-9);
    EXPECT_GT(choice.propensity, 0.0);
    const auto step = environment.step(choice.action);
    if (agent.needs_hidden_state()) agent.reveal(step.state);
    agent.observe(t % 7 == 6 ? kMissing : step.observation);
    const std::span<const double> belief = agent.belief();
    if (!belief.empty()) test::expect_distribution(belief);
  }
}

TEST_P(AgentCorner, ActsByDistributions) {
  const Pomdp& model = GetParam().model;
  for (const AgentInfo& info : agents()) {
    SCOPED_TRACE(info.name);
    try {
      AnyAgent agent = make_agent(info.name, model, quick_settings(info));
      play(agent, model);
    } catch (const InvalidArgument& error) {
      EXPECT_GT(std::string(error.what()).size(), 20U) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, AgentCorner, testing::ValuesIn(test::corners()), test::corner_name);

}  // namespace
}  // namespace oas
