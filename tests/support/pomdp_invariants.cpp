#include "support/pomdp_invariants.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "oas/core/json_text.hpp"
#include "oas/model/model_json.hpp"

namespace oas::test {

namespace {

void expect_distribution(std::span<const double> values, int size, const char* what) {
  EXPECT_EQ(values.size(), static_cast<std::size_t>(size)) << what;
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1.0, 1e-8) << what;
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double p) { return p >= 0.0; })) << what;
}

void expect_reward_in_range(const Pomdp& model) {
  if (reward_needs_transition(model.reward(), model.timing()) && !model.has_transition()) return;
  const Matrix table = model.expected_reward();
  EXPECT_EQ(table.rows(), model.num_actions());
  EXPECT_EQ(table.cols(), model.num_states());
  std::vector<double> values(model.reward().values().begin(), model.reward().values().end());
  if (const auto& rules = model.reward().table()) {
    values.push_back(0.0);  // where no rule says anything
    for (const RewardRule& rule : rules->rules()) values.push_back(rule.value);
  }
  if (values.empty()) {
    EXPECT_EQ(model.reward().kind(), Reward::Kind::none);
    EXPECT_EQ(table.cwiseAbs().maxCoeff(), 0.0);
    return;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double slack = 1e-7 * (1.0 + std::max(std::abs(*low), std::abs(*high)));
  EXPECT_GE(table.minCoeff(), *low - slack);
  EXPECT_LE(table.maxCoeff(), *high + slack);
}

}  // namespace

void expect_pomdp_invariants(const Pomdp& model) {
  SCOPED_TRACE(model.brief());
  ASSERT_GE(model.num_states(), 1);
  ASSERT_GE(model.num_actions(), 1);
  ASSERT_GE(model.num_observations(), 1);
  expect_distribution(model.start(), model.num_states(), "start");
  for (int a = 0; a < model.num_actions(); ++a) {
    for (int s = 0; s < model.num_states(); ++s) {
      expect_distribution(model.sensors().distribution(Action{a}, State{s}),
                          model.num_observations(), "observation");
      if (!model.has_transition()) continue;
      expect_distribution(model.transition().row(Action{a}, State{s}), model.num_states(),
                          "transition");
    }
  }
  expect_reward_in_range(model);

  const Pomdp copy = model;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy, model);
  const std::string text = dump_json(model_to_json(model));
  EXPECT_EQ(parse_model(text, "round-trip.json"), model);
  EXPECT_FALSE(model.without_transition().has_transition());
  if (model.has_transition()) {
    EXPECT_NE(model.without_transition(), model);
    EXPECT_EQ(model.without_transition().with_transition(model.transition()), model);
  }
}

}  // namespace oas::test
