#include "oas/learning/psrl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "oas/simulation/environment.hpp"
#include "support/printing.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

Pomdp model_of(Timing timing, std::uint64_t seed = 5) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.num_actions = 3;
  options.min_alpha = 0.3;
  options.concentration = 1.0;
  return test::random_model(options, seed);
}

PsrlOptions quick() {
  PsrlOptions options;
  options.acting.resolution = 8;
  options.posterior.particles = 20;
  return options;
}

struct Played {
  std::vector<Action> actions;
  std::vector<Observation> observations;
};

Played play(Psrl& agent, const Pomdp& model, int steps, std::uint64_t seed = 1) {
  Environment environment(model, Rng({seed, 0, Role::environment}));
  Rng rng({seed, 0, Role::agent});
  Played played;
  for (int t = 0; t < steps; ++t) {
    played.actions.push_back(agent.act(rng).action);
    played.observations.push_back(environment.step(played.actions.back()).observation);
    agent.observe(played.observations.back());
  }
  return played;
}

// The paper's pseudo code, line by line, for a given sequence of actions: first steps (from 1) of
// the episodes.
std::vector<std::int64_t> literal_episodes(const std::vector<Action>& actions, int num_actions,
                                           bool doubling) {
  const auto steps = static_cast<std::int64_t>(actions.size());
  const auto pulls = [&](std::int64_t t, int a) {  // before step t
    return std::count(actions.begin(), actions.begin() + (t - 1), Action{a});
  };
  std::vector<std::int64_t> starts;
  std::int64_t t = 1;
  std::int64_t start = 0;
  while (t <= steps) {
    const std::int64_t previous = t - start;
    start = t;
    starts.push_back(start);
    const std::int64_t schedule = doubling ? 2 * start : start + previous;
    const auto goes_on = [&] {
      if (t > schedule) return false;
      for (int a = 0; a < num_actions; ++a) {
        if (pulls(t, a) > 2 * pulls(start, a)) return false;
      }
      return true;
    };
    while (t <= steps && goes_on()) ++t;
  }
  return starts;
}

std::vector<std::int64_t> scheduled(const std::vector<Action>& actions, int num_actions,
                                    PsrlSchedule::Kind kind) {
  PsrlSchedule schedule(num_actions, kind);
  std::vector<std::int64_t> starts;
  for (std::size_t t = 0; t < actions.size(); ++t) {
    if (schedule.over()) {
      schedule.start();
      starts.push_back(static_cast<std::int64_t>(t) + 1);
    }
    schedule.pull(actions[t]);
  }
  return starts;
}

TEST(PsrlSchedule, OneActionGivesTriangularNumbers) {
  // By hand: the first pull ends episode 1; after that every episode is one step longer.
  const std::vector<Action> actions(30, Action{0});
  const std::vector<std::int64_t> expected = {1, 2, 4, 7, 11, 16, 22, 29};
  EXPECT_EQ(scheduled(actions, 1, PsrlSchedule::Kind::growing), expected);
  // Twice the start time, cut off by the doubling of pulls: 2 + 2 > 2·1 at step 4, …
  const std::vector<std::int64_t> doubling = {1, 2, 4, 8, 16};
  EXPECT_EQ(scheduled(actions, 1, PsrlSchedule::Kind::doubling), doubling);
}

TEST(PsrlSchedule, AnActionNeverPulledBeforeEndsTheEpisode) {
  const std::vector<Action> actions = {Action{0}, Action{0}, Action{0}, Action{1},
                                       Action{0}, Action{0}, Action{0}};
  // 1: first pull of 0. 2, 3: SCHED = 3. 4: SCHED = 6, but action 1 is new, so 5 starts another.
  const std::vector<std::int64_t> expected = {1, 2, 4, 5, 7};
  EXPECT_EQ(scheduled(actions, 2, PsrlSchedule::Kind::growing), expected);
}

TEST(PsrlSchedule, IsThePseudoCodeForAnyActions) {
  for (const bool doubling : {false, true}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Rng rng({seed, 0, Role::test});
      const auto num_actions = static_cast<int>(1 + rng.below(4));
      std::vector<Action> actions;
      for (int t = 0; t < 700; ++t) {
        // Mostly one action, so that others double now and then.
        const bool other = rng.uniform() < 0.05;
        actions.emplace_back(other ? rng.below(static_cast<std::uint32_t>(num_actions)) : 0);
      }
      EXPECT_EQ(scheduled(actions, num_actions,
                          doubling ? PsrlSchedule::Kind::doubling : PsrlSchedule::Kind::growing),
                literal_episodes(actions, num_actions, doubling));
    }
  }
}

TEST(Psrl, StartsItsEpisodesByTheSchedule) {
  const Pomdp model = model_of(Timing::before);
  Psrl agent(model, quick());
  const Played played = play(agent, model, 3000);
  std::vector<std::int64_t> starts;
  for (const Episode& episode : agent.episodes()) starts.push_back(episode.start + 1);
  EXPECT_EQ(starts, literal_episodes(played.actions, 3, false));
  const auto stored = std::count_if(agent.episodes().begin(), agent.episodes().end(),
                                    [](const Episode& e) { return e.transition.has_value(); });
  EXPECT_LT(stored, 65);  // log(3000)/log(1.05) and the first few
  EXPECT_GT(stored, 30);
}

class EveryTiming : public testing::TestWithParam<Timing> {};

// Candidates that are all the truth: from step 1 on the agent plays the optimal policy on the exact
// belief, which is carried over from episode to episode.
TEST_P(EveryTiming, PlaysTheDrawnModelFromItsOwnBelief) {
  const Pomdp model = model_of(GetParam());
  PsrlOptions options = quick();
  options.acting.span_tolerance = 1e-9;
  Psrl agent(model, options, {model.transition(), model.transition()});
  BeliefController reference(model, 8);
  reference.adopt(model.transition(), options.acting.planner(0.0));
  reference.set_belief(Belief(model.start()));
  Environment environment(model, Rng({2, 0, Role::environment}));
  Rng rng({2, 0, Role::agent});
  int differences = 0;
  for (int t = 0; t < 3000; ++t) {
    const Action action = agent.act(rng).action;
    if (t > 0) differences += action != reference.greedy();
    const Observation seen = environment.step(action).observation;
    agent.observe(seen);
    reference.observe(action, seen);
  }
  EXPECT_EQ(differences, 0);
}

TEST_P(EveryTiming, FindsTheTruthAmongCandidates) {
  const Pomdp model = model_of(GetParam());
  std::vector<TransitionModel> candidates = {model.transition()};
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    candidates.push_back(model_of(GetParam(), seed).transition());
  }
  Psrl agent(model, quick(), candidates);
  play(agent, model, 4000);
  const auto weights = agent.posterior()->weights();
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  EXPECT_GT(weights[0] / sum, 1.0 - 1e-6);
  EXPECT_EQ(agent.posterior()->report().resamplings, 0);
  for (const Episode& episode : agent.episodes()) EXPECT_EQ(episode.failure, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, EveryTiming, testing::Values(Timing::before, Timing::after));

TEST(Psrl, TellsThatItsParticlesCollapsed) {
  const Pomdp model = model_of(Timing::before);
  PsrlOptions options = quick();
  options.posterior.move = ParticleMove::none;
  const auto failures = [&] {
    Psrl agent(model, options);
    play(agent, model, 3000);
    return std::count_if(agent.episodes().begin(), agent.episodes().end(), [](const Episode& e) {
      return e.failure && e.failure->kind == Episode::Failure::Kind::collapsed_particles;
    });
  };
  EXPECT_GT(failures(), 20);
  options.posterior.move = ParticleMove::window;
  EXPECT_EQ(failures(), 0);
}

TEST(Psrl, DifferentStreamsDrawDifferentParticles) {
  const Pomdp model = model_of(Timing::before);
  Psrl one(model, quick());
  Psrl two(model, quick());
  play(one, model, 2, 1);
  play(two, model, 2, 2);
  EXPECT_NE(one.posterior()->transition(0), two.posterior()->transition(0));
}

}  // namespace
}  // namespace oas
