#include "oas/learning/oas_ucrl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/learning/optimistic_planning.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"
#include "oas/simulation/run.hpp"
#include "oas/theory/estimation_bounds.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp small_model(Timing timing) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.min_alpha = 0.3;
  options.concentration = 1.0;
  return test::random_model(options, 11);
}

OasUcrlOptions small_options() {
  OasUcrlOptions options;
  options.first_episode = 200;
  options.acting.resolution = 10;
  return options;
}

Trajectory play(OasUcrl& agent, const Pomdp& model, std::size_t steps) {
  return run(model, agent, steps, 3);
}

class OasUcrlTest : public testing::TestWithParam<Timing> {};

TEST_P(OasUcrlTest, EpisodesDouble) {
  const Pomdp model = small_model(GetParam());
  OasUcrl agent(model, small_options());
  static_cast<void>(play(agent, model, 200 * 15 + 1));
  ASSERT_EQ(agent.episodes().size(), 5u);
  for (int k = 0; k < 5; ++k) {
    const Episode& episode = agent.episodes()[static_cast<std::size_t>(k)];
    EXPECT_EQ(episode.start, 200 * ((1 << k) - 1));
    EXPECT_EQ(episode.length, 200 << k);
    EXPECT_EQ(episode.transition.has_value(), k > 0);
  }
  EXPECT_EQ(agent.episodes()[0].status, "uniform");
}

// Algorithm 1 on the disjoint pairs of the episode before, and on nothing else.
TEST_P(OasUcrlTest, EstimatesFromTheLastEpisodeOnly) {
  const Pomdp model = small_model(GetParam());
  OasUcrl agent(model, small_options());
  const Trajectory rows = play(agent, model, 200 * 7 + 1);
  const LeftInverses inverses(model);
  FoldOptions fold;
  fold.pairing = Pairing::disjoint;
  fold.inverse_propensity = GetParam() == Timing::after;
  for (std::size_t k = 1; k < agent.episodes().size(); ++k) {
    const Episode& before = agent.episodes()[k - 1];
    const auto start = static_cast<std::size_t>(before.start);
    const auto length = static_cast<std::size_t>(before.length);
    PairFolder folder(inverses, model.timing(), fold);
    folder.add(std::span(rows.actions).subspan(start, length),
               std::span(rows.observations).subspan(start, length),
               std::span(rows.propensities).subspan(start, length));
    const TransitionEstimate expected = estimate_oas(folder.finish(), inverses, model);
    const Episode& episode = agent.episodes()[k];
    EXPECT_EQ(episode.pairs, before.length / 2);
    const auto values = episode.transition->values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], expected.transition.values()[i], 1e-10);
    }
  }
}

TEST_P(OasUcrlTest, RadiusIsTheLemmasTimesTheScale) {
  const Pomdp model = small_model(GetParam());
  OasUcrlOptions options = small_options();
  options.radius_scale = 1e-6;
  options.delta = 0.2;
  OasUcrl agent(model, options);
  static_cast<void>(play(agent, model, 200 * 7 + 1));
  ASSERT_EQ(agent.episodes().size(), 4u);
  for (int k = 1; k < 4; ++k) {
    OasRadiusInputs inputs;
    inputs.alpha = LeftInverses(model).smallest_alpha();
    inputs.min_transition = 1.0 / 15.0;
    inputs.min_action_probability = 0.05;
    inputs.delta = 0.2 / (k * k * k);
    inputs.steps = 200 << (k - 1);
    const Episode& episode = agent.episodes()[static_cast<std::size_t>(k)];
    const double expected = 1e-6 * row_radius(oas_radius(inputs), 3);
    ASSERT_LT(expected, 1.0);
    EXPECT_DOUBLE_EQ(episode.radius, expected);
    EXPECT_GE(episode.optimistic_gain, episode.planned_gain - options.acting.span_tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Timings, OasUcrlTest, testing::Values(Timing::before, Timing::after),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST(OasUcrl, BadOptionsAreNamed) {
  const Pomdp model = small_model(Timing::before);
  const auto message = [&](auto change) {
    OasUcrlOptions options;
    change(options);
    try {
      const OasUcrl agent(model, options);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](auto& o) { o.acting.iota = 0.0; }).find("iota is 0"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.acting.iota = 0.6; }).find("0.6"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.first_episode = 1; }).find("first_episode is 1"),
            std::string::npos);
  EXPECT_NE(message([](auto& o) { o.delta = 1.0; }).find("delta is 1"), std::string::npos);
  EXPECT_NE(message([](auto& o) { o.radius_scale = -1.0; }).find("radius_scale is -1"),
            std::string::npos);
  EXPECT_NE(message([](auto& o) { o.min_transition = 2.0; }).find("min_transition is 2"),
            std::string::npos);
  EXPECT_NE(message([](auto& o) { o.start_ratio = 0.5; }).find("start_ratio is 0.5"),
            std::string::npos);
  EXPECT_NE(message([](auto& o) { o.acting.resolution = -1; }).find("resolution is -1"),
            std::string::npos);
}

TEST(OasUcrl, SensorsThatCannotTellStatesApartAreRefused) {
  const Pomdp model = small_model(Timing::before);
  PomdpParts parts = model.parts();
  parts.sensors = ObservationModel(3, 2, 4, std::vector<double>(24, 0.25));
  EXPECT_THROW(static_cast<void>(OasUcrl(Pomdp(parts))), InvalidArgument);
}

TEST(BeliefController, RecomputesTheBeliefFromTheHistory) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = small_model(timing);
    const Trajectory rows = test::play_uniformly(model, 2000, 0.0, 4);
    for (const std::size_t steps : {std::size_t{5}, std::size_t{300}, std::size_t{2000}}) {
      BeliefController controller(model, 6);
      BeliefFilter filter(model);
      for (std::size_t t = 0; t < steps; ++t) {
        controller.observe(rows.actions[t], rows.observations[t]);
        filter.update(rows.actions[t], rows.observations[t]);
      }
      EXPECT_FALSE(controller.ready());
      static_cast<void>(controller.adopt(model.transition(), RviOptions{}));
      for (int s = 0; s < 3; ++s) {
        EXPECT_NEAR(controller.belief()[static_cast<std::size_t>(s)],
                    filter.belief()[static_cast<std::size_t>(s)], 1e-12)
            << to_string(timing) << ", " << steps << " steps";
      }
    }
  }
}

// The bound holds for every model of the set, so for the true one whenever it lies in the set.
TEST(OptimisticPlanning, IsOptimisticWheneverTheSetHoldsTheTruth) {
  const Pomdp model = small_model(Timing::before);
  RviOptions options;
  options.iota = 0.05;
  const double best = relative_value_iteration(model, BeliefGrid(3, 10), options).gain();
  int held = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({seed, 0, Role::test});
    const ConfidenceSet around_truth = ConfidenceSet::uniform(model, 0.1);
    const TransitionModel center = around_truth.sample(rng);
    const std::vector<double> radius(6, 0.1);
    ASSERT_TRUE(
        (ConfidenceSet{model.with_transition(center), radius}.contains(model.transition())));
    BeliefController controller(model, 10);
    Episode episode;
    plan_optimistically(center, radius, options, controller, episode);
    held += episode.optimistic_gain >= best - 1e-5;
    EXPECT_LE(episode.planned_gain, episode.optimistic_gain + 1e-5);
  }
  EXPECT_EQ(held, 20);
}

}  // namespace
}  // namespace oas
