#include "oas/model/convert_timing.hpp"

#include <gmock/gmock.h>

#include "support/property.hpp"

namespace oas {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Probabilities of all observations of all action sequences up to a length, and after each of them
// the expected reward of every action, times that probability.
void collect_strings(const Pomdp& model, const Vector& alpha, int length,
                     std::vector<double>& out) {
  out.push_back(alpha.sum());
  const Matrix rewards = model.expected_reward();
  for (int a = 0; a < model.num_actions(); ++a) out.push_back(rewards.row(a).dot(alpha));
  if (length == 0) return;
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix t = model.transition().matrix(Action{a});
    for (int o = 0; o < model.num_observations(); ++o) {
      const Vector z = model.sensors().matrix(Action{a}).row(o);
      const Vector next = model.timing() == Timing::before
                              ? Vector(t.transpose() * z.cwiseProduct(alpha))
                              : Vector(z.cwiseProduct(t.transpose() * alpha));
      collect_strings(model, next, length - 1, out);
    }
  }
}

double string_difference(const Pomdp& x, const Pomdp& y, int length) {
  const auto strings = [&](const Pomdp& model) {
    std::vector<double> out;
    const Vector start = Eigen::Map<const Vector>(model.start().data(), model.num_states());
    collect_strings(model, start, length, out);
    return out;
  };
  const auto of_x = strings(x);
  const auto of_y = strings(y);
  if (of_x.size() != of_y.size()) return 1e9;
  double largest = 0.0;
  for (std::size_t i = 0; i < of_x.size(); ++i) {
    largest = std::max(largest, std::abs(of_x[i] - of_y[i]));
  }
  return largest;
}

Timing other(Timing timing) { return timing == Timing::before ? Timing::after : Timing::before; }

RC_GTEST_PROP(ConvertTiming, ExpandedModelsCannotBeToldApart, ()) {
  const Pomdp model = test::any_model(3, 2, 2);
  const auto converted = convert_timing(model, other(model.timing()), {.expand = true});
  RC_ASSERT(converted.model.has_value());
  RC_ASSERT(converted.reason.empty());
  RC_ASSERT(converted.model->timing() != model.timing());
  RC_ASSERT(string_difference(model, *converted.model, 4) < 1e-12);
}

// Deterministic moves: each state leads to one state, so `after` becomes `before` as it is.
Pomdp with_moves(const std::vector<int>& next, Timing timing, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = static_cast<int>(next.size());
  options.num_actions = 1;
  options.num_observations = 2;
  options.timing = timing;
  options.reward = Reward::Kind::by_transition;
  PomdpParts parts = test::random_model(options, seed).parts();
  Matrix t = Matrix::Zero(options.num_states, options.num_states);
  for (int s = 0; s < options.num_states; ++s) t(s, next[static_cast<std::size_t>(s)]) = 1.0;
  parts.transition =
      TransitionModel(options.num_states, 1, std::vector<double>(t.data(), t.data() + t.size()));
  return Pomdp(std::move(parts));
}

TEST(ConvertTiming, DeterministicMovesKeepTheStates) {
  const Pomdp after = with_moves({1, 1, 0}, Timing::after, 3);
  const auto before = convert_timing(after, Timing::before);
  ASSERT_TRUE(before.model.has_value()) << before.reason;
  EXPECT_FALSE(before.expanded);
  EXPECT_EQ(before.model->num_states(), 3);
  EXPECT_LT(string_difference(after, *before.model, 4), 1e-15);
  EXPECT_NE(before.model->sensors(), after.sensors());
}

// Numbers of labelled rows belong to the sensors they were counted for, on the same states or more.
TEST(ConvertTiming, NumbersOfLabelledRowsStayBehind) {
  for (const std::vector<int>& moves : {std::vector<int>{1, 1, 0}, std::vector<int>{0, 0, 0}}) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      PomdpParts parts = with_moves(moves, timing, 3).parts();
      parts.observation_counts = ObservationCounts(3, 1, 2, {1, 2, 3, 4, 5, 6});
      const Pomdp model(std::move(parts));
      EXPECT_EQ(*convert_timing(model, timing).model, model);
      const Timing other = timing == Timing::before ? Timing::after : Timing::before;
      const auto converted = convert_timing(model, other, {.expand = true});
      ASSERT_TRUE(converted.model.has_value()) << converted.reason;
      EXPECT_FALSE(converted.model->observation_counts().has_value());
    }
  }
}

TEST(ConvertTiming, PermutationsGoBothWays) {
  const Pomdp before = with_moves({1, 2, 0}, Timing::before, 4);
  const auto after = convert_timing(before, Timing::after);
  ASSERT_TRUE(after.model.has_value()) << after.reason;
  EXPECT_LT(string_difference(before, *after.model, 4), 1e-15);
  const auto back = convert_timing(*after.model, Timing::before);
  ASSERT_TRUE(back.model.has_value());
  EXPECT_EQ(*back.model, before);
}

TEST(ConvertTiming, SaysWhyNot) {
  const Pomdp before = with_moves({1, 1, 0}, Timing::before, 3);
  const auto after = convert_timing(before, Timing::after);
  EXPECT_FALSE(after.model.has_value());
  EXPECT_THAT(after.reason, HasSubstr("under action 0, state 1 is reached from states 0 and 1"));
  test::RandomModelOptions options;
  options.timing = Timing::after;
  const Pomdp random = test::random_model(options, 1);
  EXPECT_THAT(convert_timing(random, Timing::before).reason, HasSubstr("leads to states"));
  EXPECT_THAT(convert_timing(random.without_transition(), Timing::before).reason,
              HasSubstr("no transition model"));
}

TEST(ConvertTiming, SizesAreLimited) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions options;
    options.timing = timing;
    const auto converted = convert_timing(test::random_model(options, 1), other(timing),
                                          {.expand = true, .max_numbers = 100});
    EXPECT_FALSE(converted.model.has_value());
    EXPECT_THAT(converted.reason,
                AllOf(HasSubstr("sensed differently"), HasSubstr("limit of 100 numbers")));
  }
}

TEST(ConvertTiming, NamesOfPairs) {
  test::RandomModelOptions options;
  options.num_states = 2;
  options.num_actions = 1;
  PomdpParts parts = test::random_model(options, 1).parts();
  parts.states = Labels({"up", "down"}, "state");
  const auto after = convert_timing(Pomdp(parts), Timing::after, {.expand = true});
  EXPECT_THAT(after.model->states().names(),
              testing::ElementsAre("up-up", "up-down", "down-up", "down-down"));
}

TEST(ConvertTiming, SameTimingIsTheSameModel) {
  const Pomdp model = test::random_model({}, 1);
  EXPECT_EQ(*convert_timing(model, model.timing()).model, model);
}

}  // namespace
}  // namespace oas
