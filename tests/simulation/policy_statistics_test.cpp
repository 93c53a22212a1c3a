#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/policies.hpp"
#include "support/chi_square.hpp"
#include "support/printing.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using test::chi_square_p_value;
using test::kFailureProbability;

constexpr int kPolicyActions = 3;

Pomdp make_model(Timing timing) {
  test::RandomModelOptions options;
  options.num_actions = kPolicyActions;
  options.timing = timing;
  return test::random_model(options, 31);
}

Trajectory play(const Pomdp& model, const char* policy, std::optional<double> floor) {
  PolicyOptions options;
  options.name = policy;
  options.min_action_probability = floor;
  Trajectory rows;
  ClosedLoop(model, options, 99).advance(400'000, rows);
  return rows;
}

// The greedy action at every row by the plain filter.
std::vector<int> greedy_actions(const Pomdp& model, const Trajectory& rows) {
  BeliefFilter filter(model);
  const Matrix rewards = model.expected_reward();
  std::vector<int> greedy;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Vector means = rewards * VectorView(filter.belief().data(), model.num_states());
    greedy.push_back(
        static_cast<int>(std::max_element(means.begin(), means.end()) - means.begin()));
    filter.update(rows.actions[t], rows.observations[t]);
  }
  return greedy;
}

class PolicyStatistics : public testing::TestWithParam<Timing> {};

// Given the greedy action, every action comes as often as its propensity says.
TEST_P(PolicyStatistics, BeliefPolicyPlaysItsPropensities) {
  const Pomdp model = make_model(GetParam());
  for (const double floor : {0.02, 0.1, 1.0 / kPolicyActions}) {
    const Trajectory rows = play(model, "belief", floor);
    const std::vector<int> greedy = greedy_actions(model, rows);
    std::vector<std::int64_t> counts(kPolicyActions * kPolicyActions, 0);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      ++counts[static_cast<std::size_t>(greedy[t] * kPolicyActions + rows.actions[t])];
    }
    int groups = 0;
    for (int g = 0; g < kPolicyActions; ++g) {
      const auto found =
          std::span(counts).subspan(static_cast<std::size_t>(g) * kPolicyActions, kPolicyActions);
      if (found[0] + found[1] + found[2] < 1000) continue;
      std::vector<double> probabilities(kPolicyActions, floor);
      probabilities[static_cast<std::size_t>(g)] = 1.0 - (kPolicyActions - 1) * floor;
      EXPECT_GT(chi_square_p_value(found, probabilities), kFailureProbability) << g << ' ' << floor;
      ++groups;
    }
    EXPECT_GE(groups, 2) << "the policy reacts to what it sees";
  }
}

// Rows are grouped by (propensity, what was seen before): within a group of the memoryless policy
// the propensities of the actions are known from the log alone, and must be their frequencies.
TEST_P(PolicyStatistics, MemorylessPolicyPlaysItsPropensities) {
  constexpr double kFloor = 0.05;
  const Pomdp model = make_model(GetParam());
  const Trajectory rows = play(model, "memoryless", kFloor);
  const int num_observations = model.num_observations();
  const auto groups = static_cast<std::size_t>(kPolicyActions * num_observations);
  std::vector<std::int64_t> counts(groups * kPolicyActions, 0);
  std::vector<double> propensity(groups * kPolicyActions, kFloor);
  for (std::size_t t = 1; t < rows.size(); ++t) {
    const int group = rows.actions[t - 1] * num_observations + rows.observations[t - 1];
    const auto cell = static_cast<std::size_t>(group * kPolicyActions + rows.actions[t]);
    ++counts[cell];
    propensity[cell] = rows.propensities[t];
  }
  for (std::size_t group = 0; group < groups; ++group) {
    const auto found = std::span(counts).subspan(group * kPolicyActions, kPolicyActions);
    const auto expected = std::span(propensity).subspan(group * kPolicyActions, kPolicyActions);
    if (found[0] + found[1] + found[2] < 1000) continue;
    EXPECT_NEAR(expected[0] + expected[1] + expected[2], 1.0, 1e-12) << group;
    EXPECT_GT(chi_square_p_value(found, expected), kFailureProbability) << group;
  }
}

TEST_P(PolicyStatistics, UniformPolicyIsUniformAndForgetful) {
  const Pomdp model = make_model(GetParam());
  const Trajectory rows = play(model, "uniform", std::nullopt);
  std::vector<std::int64_t> pairs(kPolicyActions * kPolicyActions, 0);
  std::vector<std::int64_t> by_state(static_cast<std::size_t>(kPolicyActions * model.num_states()),
                                     0);
  std::vector<std::int64_t> states(static_cast<std::size_t>(model.num_states()), 0);
  for (std::size_t t = 1; t < rows.size(); t += 2) {
    ++pairs[static_cast<std::size_t>(rows.actions[t - 1] * kPolicyActions + rows.actions[t])];
    ++by_state[static_cast<std::size_t>(rows.states[t] * kPolicyActions + rows.actions[t])];
    ++states[static_cast<std::size_t>(rows.states[t])];
  }
  const std::vector<double> equal(kPolicyActions, 1.0);
  EXPECT_GT(chi_square_p_value(pairs, std::vector<double>(9, 1.0)), kFailureProbability);
  for (std::size_t s = 0; s < states.size(); ++s) {
    const auto found = std::span(by_state).subspan(s * kPolicyActions, kPolicyActions);
    EXPECT_GT(chi_square_p_value(found, equal), kFailureProbability) << s;
  }
}

INSTANTIATE_TEST_SUITE_P(Timings, PolicyStatistics, testing::Values(Timing::before, Timing::after),
                         [](const auto& timing) { return std::string(to_string(timing.param)); });

}  // namespace
}  // namespace oas
