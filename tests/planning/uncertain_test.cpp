#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/planning/uncertain/cautious_plan.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"
#include "oas/planning/uncertain/robust_plan.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

/// Promises hold for members of the set, extreme ones among them, and are sharp where they can be.
namespace oas {
namespace {

Pomdp model_of(Timing timing, std::uint64_t seed, Reward::Kind reward, double zeros = 0.0) {
  test::RandomModelOptions options;
  options.num_observations = 3;
  options.timing = timing;
  options.concentration = 1.0;
  options.zero_fraction = zeros;
  options.reward = reward;
  return test::random_model(options, seed);
}

Controller random_controller(const Pomdp& model, int nodes, Rng& rng) {
  Controller controller;
  controller.num_actions = model.num_actions();
  controller.num_observations = model.num_observations();
  controller.probabilities = test::random_rows(nodes, model.num_actions(), 0.5, 0.4, rng);
  for (int i = 0; i < nodes * model.num_actions() * model.num_observations(); ++i) {
    controller.next.push_back(static_cast<int>(rng.below(static_cast<std::uint32_t>(nodes))));
  }
  return controller;
}

// Every row moved as far as it may towards a state of its own.
TransitionModel extreme_member(const ConfidenceSet& set, Rng& rng) {
  const int n = set.center.num_states();
  std::vector<double> values;
  for (Action a{0}; a < set.center.num_actions(); ++a) {
    for (State s{0}; s < n; ++s) {
      std::vector<double> towards(static_cast<std::size_t>(n));
      for (double& value : towards) value = rng.uniform();
      const auto row = optimistic_row(set.center.transition().row(a, s),
                                      set.radius[static_cast<std::size_t>(a * n + s)], towards);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return {n, set.center.num_actions(), std::move(values)};
}

TEST(WorstCase, PromisesHoldForEveryMember) {
  std::uint64_t seed = 0;
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const Reward::Kind reward : {Reward::Kind::by_observation, Reward::Kind::by_action_state,
                                      Reward::Kind::by_transition}) {
      for (const double radius : {0.02, 0.2, 1.0}) {
        Rng rng({++seed, 0, Role::policy});
        ConfidenceSet set = ConfidenceSet::uniform(model_of(timing, seed, reward, 0.3), radius);
        for (double& r : set.radius) r *= rng.uniform();
        set.radius.front() = 0.0;
        const Controller controller = random_controller(set.center, 4, rng);
        const WorstCase worst = worst_case(set, controller);
        EXPECT_TRUE(set.contains(worst.member));
        EXPECT_LE(worst.promise, worst.attained);
        for (int i = 0; i < 60; ++i) {
          const TransitionModel member = i % 2 == 0 ? set.sample(rng) : extreme_member(set, rng);
          EXPECT_GE(evaluate_controller(set.center.with_transition(member), controller).gain,
                    worst.promise)
              << seed;
        }
      }
    }
  }
}

TEST(WorstCase, IsSharpWhereThereIsOneNode) {
  // Then nature's choice depends on the state alone, and is a member.
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Pomdp model = model_of(Timing::after, seed, Reward::Kind::by_observation);
    const ConfidenceSet set = ConfidenceSet::uniform(model, 0.1);
    const std::vector<Action> always = {Action{1}};
    const WorstCase worst = worst_case(set, schedule_controller(always, model));
    EXPECT_EQ(worst.status, SolveStatus::converged);
    EXPECT_NEAR(worst.promise, worst.attained, 1e-7);
    EXPECT_LT(worst.promise, evaluate_controller(model, schedule_controller(always, model)).gain);
  }
}

TEST(WorstCase, RadiusZeroIsTheGain) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Rng rng({seed, 1, Role::policy});
      const Pomdp model = model_of(timing, seed, Reward::Kind::by_transition);
      const Controller controller = random_controller(model, 3, rng);
      EXPECT_NEAR(worst_case(ConfidenceSet::uniform(model, 0.0), controller).promise,
                  evaluate_controller(model, controller).gain, 1e-7);
    }
  }
}

TEST(WorstCase, CornerModels) {
  const auto promise = [](std::vector<double> transition, double radius) {
    const Pomdp model = test::make_model(Timing::before, 2, 1, 1, std::move(transition), {1.0, 1.0},
                                         Reward::by_action_state({3.0, 1.0}), {1.0, 0.0});
    return worst_case(ConfidenceSet::uniform(model, radius), uniform_controller(model)).promise;
  };
  EXPECT_NEAR(promise({1, 0, 0, 1}, 0.0), 3.0, 1e-8);  // the other state cannot be reached
  EXPECT_NEAR(promise({1, 0, 0, 1}, 0.1), 1.0, 1e-8);  // now it can, and is not left
  EXPECT_NEAR(promise({0, 1, 1, 0}, 0.0), 2.0, 1e-8);  // periodic
  EXPECT_NEAR(promise({0.9, 0.1, 0, 1}, 0.05), 1.0, 1e-8);
  EXPECT_NEAR(promise({0.5, 0.5, 0.5, 0.5}, 0.25), 1.5, 1e-8);
  const Pomdp one = test::make_model(Timing::after, 1, 1, 1, {1}, {1}, Reward::by_observation({7}));
  EXPECT_NEAR(worst_case(ConfidenceSet::uniform(one, 1.0), uniform_controller(one)).promise, 7.0,
              1e-8);
}

TEST(RobustPlan, PromisesAtLeastWhatThePlainPlanCanAndKeepsIt) {
  PlanOptions options;
  options.simulation.steps = 640;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Timing timing = seed % 2 == 0 ? Timing::before : Timing::after;
    const Pomdp model = model_of(timing, seed, Reward::Kind::by_action_state);
    const ConfidenceSet set = ConfidenceSet::uniform(model, 0.1);
    const RobustPlan plan = robust_plan(set, options);
    EXPECT_GE(plan.worst.promise, plan.plain_promise);
    EXPECT_LE(plan.worst.promise, plan.center_gain);
    const Controller controller = controller_of(plan.graph, 0, model.num_actions());
    Rng rng({seed, 0, Role::policy});
    for (int i = 0; i < 50; ++i) {
      const TransitionModel member = i % 2 == 0 ? set.sample(rng) : extreme_member(set, rng);
      EXPECT_GE(evaluate_controller(model.with_transition(member), controller).gain,
                plan.worst.promise);
    }
  }
  options.iota = 0.1;
  const Pomdp model = model_of(Timing::before, 1, Reward::Kind::by_action_state);
  EXPECT_THROW(static_cast<void>(robust_plan(ConfidenceSet::uniform(model, 0.1), options)),
               InvalidArgument);
}

std::vector<TransitionModel> draws_near(const Pomdp& model, double weight, int count) {
  std::vector<TransitionModel> draws;
  Rng rng({9, 0, Role::policy});
  const auto n = static_cast<std::size_t>(model.num_states());
  for (int i = 0; i < count; ++i) {
    std::vector<double> values(model.transition().values().size());
    for (std::size_t row = 0; row < values.size(); row += n) {
      std::vector<double> alpha(n);
      for (std::size_t j = 0; j < n; ++j) {
        alpha[j] = 0.5 + weight * model.transition().values()[row + j];
      }
      sample_dirichlet(alpha, std::span(values).subspan(row, n), rng);
    }
    draws.emplace_back(model.num_states(), model.num_actions(), std::move(values));
  }
  return draws;
}

std::vector<Pomdp> models_of(const Pomdp& model, std::span<const TransitionModel> draws) {
  std::vector<Pomdp> models;
  for (const TransitionModel& draw : draws) models.push_back(model.with_transition(draw));
  return models;
}

TEST(CredibleSet, HoldsTheShareOfTheDrawsThatItShould) {
  const Pomdp model = model_of(Timing::before, 2, Reward::Kind::by_observation);
  const std::vector<TransitionModel> draws = draws_near(model, 30.0, 200);
  for (const double level : {0.5, 0.95, 1.0}) {
    const ConfidenceSet set = credible_set(model, draws, level);
    int inside = 0;
    for (const TransitionModel& draw : draws) inside += set.contains(draw) ? 1 : 0;
    EXPECT_EQ(inside, static_cast<int>(level * 200));
  }
  const std::vector<TransitionModel> same(30, model.transition());
  EXPECT_EQ(credible_set(model, same, 0.95).max_radius(), 0.0);
  EXPECT_THROW(static_cast<void>(credible_set(model, {}, 0.95)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(credible_set(model, draws, 0.0)), InvalidArgument);
}

// The k-th of 101 values has k/102 below it.
TEST(PosteriorValue, LimitsAndTails) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const DrawnRange range = range_of(values, 0.9);
  EXPECT_NEAR(range.mean, 50.0, 1e-12);
  EXPECT_NEAR(range.lower, 0.05 * 102.0 - 1.0, 1e-12);
  EXPECT_NEAR(range.upper, 0.95 * 102.0 - 1.0, 1e-12);
  EXPECT_NEAR(mean_of_least({4, 1, 3, 2}, 0.5), 1.5, 1e-12);
  EXPECT_NEAR(mean_of_least({4, 1, 3, 2}, 0.375), (1.0 + 0.5 * 2.0) / 1.5, 1e-12);
  EXPECT_NEAR(mean_of_least({4, 1, 3, 2}, 0.1), 1.0, 1e-12);
  EXPECT_THROW(static_cast<void>(range_of({}, 0.9)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(mean_of_least({1}, 0.0)), InvalidArgument);
}

TEST(PosteriorValue, IsTheControllerInEachDraw) {
  const Pomdp model = model_of(Timing::after, 3, Reward::Kind::by_transition);
  const std::vector<Pomdp> draws = models_of(model, draws_near(model, 20.0, 8));
  Rng rng({1, 0, Role::policy});
  const Controller controller = random_controller(model, 3, rng);
  const PosteriorValue value = evaluate_over(draws, controller);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const ControllerValue alone = evaluate_controller(draws[i], controller);
    EXPECT_EQ(value.gains[i], alone.gain);
    for (int s = 0; s < 3; ++s) {
      EXPECT_EQ(value.frequencies_of(s, 3)[i], alone.frequencies[static_cast<std::size_t>(s)]);
    }
  }
  EXPECT_EQ(evaluate_over(draws, controller, {1}).gains, value.gains);
}

TEST(CautiousPlan, IsTheBestOfWhatItTriedForTheDrawsThatChose) {
  PlanOptions options;
  options.simulation.steps = 640;
  const Pomdp model = model_of(Timing::before, 7, Reward::Kind::by_action_state);
  const std::vector<Pomdp> draws = models_of(model, draws_near(model, 6.0, 40));
  const CautiousPlan plan = cautious_plan(model, draws, 0.2, options);
  EXPECT_GE(plan.chosen.chosen_by, plan.plain.chosen_by);
  EXPECT_EQ(plan.candidates, 8);
  std::vector<Pomdp> others;
  for (std::size_t i = 1; i < draws.size(); i += 2) others.push_back(draws[i]);
  EXPECT_NEAR(plan.chosen.judged, mean_of_least(evaluate_over(others, plan.controller).gains, 0.2),
              1e-12);
  EXPECT_LE(plan.chosen.judged, plan.chosen.mean);
  EXPECT_THROW(static_cast<void>(cautious_plan(model, std::span(draws).first(10), 0.2, options)),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(cautious_plan(model, draws, 1.0, options)), InvalidArgument);
}

// Known dynamics, drawn rewards: action 0 is better on average, and ruinous in one draw of five.
TEST(CautiousPlan, MindsDrawnRewards) {
  PomdpParts parts = model_of(Timing::before, 7, Reward::Kind::by_action_state).parts();
  const auto states = static_cast<std::size_t>(parts.states.size());
  const auto actions = static_cast<std::size_t>(parts.actions.size());
  const auto with = [&](double first) {
    std::vector<double> rewards(actions * states, 0.0);
    std::fill_n(rewards.begin(), states, first);
    parts.reward = Reward::by_action_state(std::move(rewards));
    return Pomdp(parts);
  };
  std::vector<Pomdp> draws;
  for (int i = 0; i < 50; ++i) draws.push_back(with(i % 5 == 0 ? -1.0 : 1.0));
  PlanOptions options;
  options.simulation.steps = 640;
  const CautiousPlan plan = cautious_plan(with(0.6), draws, 0.2, options);
  EXPECT_NEAR(plan.plain.judged, -1.0, 1e-9);
  EXPECT_NEAR(plan.plain.mean, 0.6, 1e-9);
  EXPECT_NEAR(plan.chosen.judged, 0.0, 1e-9);
  EXPECT_NEAR(plan.chosen.mean, 0.0, 1e-9);
}

}  // namespace
}  // namespace oas
