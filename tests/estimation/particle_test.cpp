// The particle posterior where the answer is known: against the plain filter, against the
// enumeration of state paths, against the exact posterior over candidates; its saved state, its
// counted failures, its errors.

#include "oas/estimation/particles/particle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/estimation/particles/finite_posterior.hpp"
#include "support/allocations.hpp"
#include "support/path_enumeration.hpp"
#include "support/printing.hpp"
#include "support/random_models.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

Pomdp model_of(int states, Timing timing, double zero_fraction, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.timing = timing;
  options.zero_fraction = zero_fraction;
  return test::random_model(options, seed);
}

std::vector<TransitionModel> candidates_of(int count, int states, double zero_fraction) {
  std::vector<TransitionModel> list;
  for (int i = 0; i < count; ++i) {
    list.push_back(
        model_of(states, Timing::before, zero_fraction, 100 + static_cast<std::uint64_t>(i))
            .transition());
  }
  return list;
}

ParticleOptions options_of(ParticleMove move, int particles = 20) {
  ParticleOptions options;
  options.move = move;
  options.particles = particles;
  return options;
}

// Without resampling: the exact posterior over the particles.
ParticleOptions exact(int particles) {
  ParticleOptions options = options_of(ParticleMove::none, particles);
  options.ess_threshold = 0.0;
  return options;
}

class EveryTiming : public ::testing::TestWithParam<Timing> {};

TEST_P(EveryTiming, FinitePosteriorIsBayesRuleOverAllStatePaths) {
  const Pomdp sensors = model_of(3, GetParam(), 0.0, 1);
  const std::vector<TransitionModel> candidates = candidates_of(4, 3, 0.0);
  const std::vector<double> prior = {0.1, 0.2, 0.3, 0.4};
  const Trajectory rows = test::random_rows_of_log(2, 4, 7, 0.2, 3);
  FinitePosterior posterior(sensors, candidates, prior);
  double evidence = 1.0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    evidence *= posterior.update(rows.actions[t], rows.observations[t]);
  }
  std::vector<double> joint;
  double sum = 0.0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    joint.push_back(prior[i] * test::enumerate_paths(sensors.with_transition(candidates[i]),
                                                     rows.actions, rows.observations)
                                   .likelihood);
    sum += joint.back();
  }
  EXPECT_NEAR(evidence, sum, 1e-14);
  for (int i = 0; i < posterior.size(); ++i) {
    EXPECT_NEAR(posterior.probability(i), joint[static_cast<std::size_t>(i)] / sum, 1e-12);
  }
}

// Zeros make observations impossible under some particles and not under others; several numbers of
// states take the loops of fixed and of any size; 5 and 20 particles leave and leave no padding.
TEST_P(EveryTiming, ParticlesThatAreTheCandidatesAgreeWithTheExactPosterior) {
  for (const int states : {1, 2, 3, 4, 5, 6, 8}) {
    for (const double zeros : {0.0, 0.4}) {
      const int count = states % 2 == 0 ? 5 : 20;
      const Pomdp sensors = model_of(states, GetParam(), zeros, 2);
      const std::vector<TransitionModel> candidates = candidates_of(count, states, zeros);
      const Trajectory rows = test::play_uniformly(sensors, 400, 0.1, 5);
      FinitePosterior reference(sensors, candidates);
      ParticlePosterior particles(sensors, exact(count), candidates);
      Rng rng({1, 0, Role::test});
      test::Worst worst;
      for (std::size_t t = 0; t < rows.size(); ++t) {
        if (t == 200) {
          reference.start_run();
          particles.start_run();
        }
        const double expected = reference.update(rows.actions[t], rows.observations[t]);
        worst.take(
            std::abs(particles.update(rows.actions[t], rows.observations[t], rng) - expected));
        double sum = 0.0;
        for (const double weight : particles.weights()) sum += weight;
        for (int i = 0; i < count; ++i) {
          worst.take(std::abs(particles.weights()[static_cast<std::size_t>(i)] / sum -
                              reference.probability(i)));
          for (std::size_t s = 0; s < static_cast<std::size_t>(states); ++s) {
            worst.take(std::abs(particles.belief(i)[s] - reference.belief(i)[s]));
          }
        }
      }
      EXPECT_LT(worst.value(), 1e-11) << states << " states, zeros " << zeros;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTiming, ::testing::Values(Timing::before, Timing::after));

// Weights are logarithms: a candidate whose weight went below the smallest double comes back.
TEST(ParticlePosterior, WhoFellFarBehindComesBack) {
  const Pomdp sensors = model_of(3, Timing::before, 0.0, 4);
  const std::vector<TransitionModel> candidates = candidates_of(2, 3, 0.0);
  Rng rng({2, 0, Role::test});
  ParticlePosterior particles(sensors, exact(2), candidates);
  FinitePosterior reference(sensors, candidates);
  const auto play = [&](int who, std::size_t steps, std::uint64_t seed) {
    const Trajectory rows = test::play_uniformly(
        sensors.with_transition(candidates[static_cast<std::size_t>(who)]), steps, 0.0, seed);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      particles.update(rows.actions[t], rows.observations[t], rng);
      reference.update(rows.actions[t], rows.observations[t]);
    }
  };
  play(0, 20'000, 1);
  ASSERT_LT(reference.log_probability(1), -800.0);
  ASSERT_EQ(particles.weights()[1], 0.0);
  play(1, 60'000, 2);
  ASSERT_GT(reference.probability(1), 1.0 - 1e-9);
  EXPECT_GT(particles.weights()[1], 0.0);
  EXPECT_EQ(particles.weights()[0] / particles.weights()[1], 0.0);
}

// Plays on after saving and loading in the middle, beside one that was not saved.
void expect_goes_on(const Pomdp& model, const Trajectory& rows, const ParticleOptions& options) {
  Rng rng({3, 0, Role::test});
  ParticlePosterior one(model, options, rng);
  for (std::size_t t = 0; t < 777; ++t) {
    if (t % 250 == 0) one.start_run();
    one.update(rows.actions[t], rows.observations[t], rng);
  }
  const std::string text = dump_json(one.save());
  const nlohmann::ordered_json document = parse_json(text, "state.json");
  Rng other_rng({99, 0, Role::test});
  ParticlePosterior two(model, options, other_rng);
  two.load(JsonView(document, "state.json"));
  other_rng = rng;
  for (std::size_t t = 777; t < rows.size(); ++t) {
    ASSERT_EQ(one.update(rows.actions[t], rows.observations[t], rng),
              two.update(rows.actions[t], rows.observations[t], other_rng))
        << to_string(options.move) << ", row " << t;
  }
  EXPECT_EQ(dump_json(one.save()), dump_json(two.save()));
}

TEST(ParticlePosterior, SavedAndLoadedGoesOnBitForBit) {
  const Pomdp model = model_of(3, Timing::before, 0.0, 6);
  const Trajectory rows = test::play_uniformly(model, 1200, 0.1, 7);
  for (const ParticleMove move : {ParticleMove::none, ParticleMove::jitter, ParticleMove::window}) {
    for (const int particles : {100, 10}) {  // 10: lanes are padded
      ParticleOptions options = options_of(move, particles);
      options.window = 100;  // several summaries
      expect_goes_on(model, rows, options);
    }
  }
}

TEST(ParticlePosterior, CollapseIsCountedAlsoWhenCopiesHideIt) {
  const Pomdp model = model_of(3, Timing::before, 0.0, 8);
  const Trajectory rows = test::play_uniformly(model, 6000, 0.0, 9);
  for (const ParticleMove move : {ParticleMove::none, ParticleMove::window}) {
    Rng rng({4, 0, Role::test});
    ParticlePosterior posterior(model, options_of(move, 50), rng);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      posterior.update(rows.actions[t], rows.observations[t], rng);
    }
    const bool moves = move == ParticleMove::window;
    EXPECT_EQ(posterior.collapsed(), !moves);
    if (moves) {
      EXPECT_EQ(posterior.report().collapsed, 0);
      EXPECT_GT(posterior.report().distinct, 25);
    } else {
      EXPECT_GT(posterior.report().collapsed, 3000);
    }
  }
}

TEST(ParticlePosterior, ImpossibleObservationsAreCountedAndSkipped) {
  PomdpParts parts = model_of(2, Timing::before, 0.0, 10).parts();
  // Observation 3 never happens.
  std::vector<double> sensors;
  for (int row = 0; row < 4; ++row) sensors.insert(sensors.end(), {0.5, 0.3, 0.2, 0.0});
  parts.sensors = ObservationModel(2, 2, 4, sensors);
  const Pomdp model(parts);
  Rng rng({5, 0, Role::test});
  ParticlePosterior posterior(model, options_of(ParticleMove::none), rng);
  EXPECT_GT(posterior.update(Action{0}, Observation{1}, rng), 0.0);
  const double effective = posterior.effective_size();
  EXPECT_EQ(posterior.update(Action{0}, Observation{3}, rng), 0.0);
  EXPECT_EQ(posterior.effective_size(), effective);
  EXPECT_EQ(posterior.report().impossible, 1);
  EXPECT_EQ(posterior.report().rows, 2);
}

// Also by the moves, which look at the stored rows again.
TEST(ParticlePosterior, AnImpossibleObservationIsAMissingOne) {
  PomdpParts parts = model_of(2, Timing::before, 0.0, 10).parts();
  std::vector<double> sensors;
  for (const double p : {0.7, 0.2, 0.6, 0.3}) sensors.insert(sensors.end(), {p, 0.9 - p, 0.1, 0.0});
  parts.sensors = ObservationModel(2, 2, 4, sensors);
  const Pomdp model(parts);
  const Trajectory rows = test::play_uniformly(model, 3000, 0.0, 12);
  const auto moments_with = [&](Observation odd) {
    Rng rng({5, 0, Role::test});
    ParticlePosterior posterior(model, options_of(ParticleMove::window, 100), rng);
    for (std::size_t t = 0; t < rows.size(); ++t) {
      posterior.update(rows.actions[t], t == 40 ? odd : rows.observations[t], rng);
    }
    EXPECT_GT(posterior.report().accepted, 0);
    return posterior.moments();
  };
  const auto impossible = moments_with(Observation{3});
  const auto missing = moments_with(kMissing);
  EXPECT_EQ(impossible.mean, missing.mean);
  EXPECT_EQ(impossible.deviation, missing.deviation);
}

TEST(ParticlePosterior, ARowAllocatesNothing) {
  const Pomdp model = model_of(3, Timing::before, 0.0, 11);
  const Trajectory rows = test::play_uniformly(model, 2000, 0.1, 12);
  ParticleOptions options = options_of(ParticleMove::window, 100);
  options.ess_threshold = 0.0;
  Rng rng({6, 0, Role::test});
  ParticlePosterior posterior(model, options, rng);
  const std::size_t before = test::allocations();
  for (std::size_t t = 0; t < rows.size(); ++t) {
    posterior.update(rows.actions[t], rows.observations[t], rng);
  }
  EXPECT_EQ(test::allocations(), before);
}

TEST(ParticlePosterior, ErrorsNameTheFieldAndTheValue) {
  const auto message = [](const auto& change) {
    ParticleOptions options;
    change(options);
    try {
      options.validate();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([](auto& o) { o.particles = 1; }), HasSubstr("particles is 1"));
  EXPECT_THAT(message([](auto& o) { o.ess_threshold = 101.0; }), HasSubstr("ess_threshold is 101"));
  EXPECT_THAT(message([](auto& o) { o.kappa0 = 0.0; }), HasSubstr("kappa0 is 0"));
  EXPECT_THAT(message([](auto& o) { o.rate = -1.0; }), HasSubstr("rate is -1"));
  EXPECT_THAT(message([](auto& o) { o.window = 1; }), HasSubstr("window is 1"));
  EXPECT_THAT(message([](auto& o) { o.sweeps = 0; }), HasSubstr("sweeps is 0"));
  EXPECT_THAT(message([](auto& o) { o.prior = std::nan(""); }), HasSubstr("prior is nan"));
  EXPECT_THROW(static_cast<void>(particle_move("shake")), InvalidArgument);
}

TEST(ParticleEstimator, TellsWhatItReadAndWhatItCouldNotLearn) {
  const Pomdp model = model_of(3, Timing::before, 0.0, 13);
  Trajectory rows = test::play_uniformly(model, 3000, 0.0, 14);
  for (Action& action : rows.actions) action = Action{0};
  rows.observations[5] = kMissing;
  ParticleEstimator estimator(model, {}, Rng({7, 0, Role::test}));
  const std::span<const Action> actions(rows.actions);
  const std::span<const Observation> observations(rows.observations);
  estimator.start_run();
  estimator.add(actions.first(1000), observations.first(1000));
  estimator.start_run();
  estimator.add(actions.subspan(1000), observations.subspan(1000));
  const TransitionEstimate estimate = estimator.finish();
  EXPECT_EQ(estimate.rows, 3000);
  EXPECT_EQ(estimate.runs, 2);
  EXPECT_EQ(estimate.missing, 1);
  EXPECT_EQ(estimate.pairs, (std::vector<std::int64_t>{3000 - 1 - 1 - 2, 0}));
  EXPECT_EQ(estimate.status, EstimateStatus::flagged);
  EXPECT_EQ(estimate.flagged.size(), 3U);  // the rows of action 1
  EXPECT_NEAR(estimate.visits[0] + estimate.visits[1] + estimate.visits[2], 3000.0, 1e-6);
  for (std::size_t e = 0; e < estimate.lower.size(); ++e) {
    const double value = estimate.transition.values()[e];
    EXPECT_LE(estimate.lower[e], estimate.upper[e]);
    EXPECT_LE(estimate.lower[e], value + 0.1);
    EXPECT_GE(estimate.upper[e], value - 0.1);
  }
  // Nothing was learned about action 1: uniform rows of deviation √(1/18), as Dirichlet(1,1,1) has.
  EXPECT_NEAR(estimate.standard_error[9], std::sqrt(1.0 / 18.0), 0.06);
}

// Three states, one action; the readings of the states are given.
Pomdp with_readings(std::vector<double> sensors) {
  PomdpParts parts = model_of(3, Timing::before, 0.0, 17).parts();
  parts.actions = Labels(1, "a");
  parts.observations = Labels(2, "o");
  parts.sensors = ObservationModel(3, 1, 2, std::move(sensors));
  parts.transition.reset();
  parts.reward = Reward{};
  return Pomdp(std::move(parts));
}

TEST(ParticleEstimator, StatesThatCanBeSwappedAreNotDetermined) {
  const std::vector<Action> actions(400, Action{0});
  std::vector<Observation> observations;
  Rng readings({18, 0, Role::test});
  for (int t = 0; t < 400; ++t) {
    observations.push_back(Observation{readings.uniform() < 0.3 ? 1 : 0});
  }
  for (const double other : {0.9, 0.7}) {
    ParticleEstimator estimator(with_readings({0.9, 0.1, other, 1.0 - other, 0.2, 0.8}), {},
                                Rng({9, 0, Role::test}));
    estimator.add(actions, observations);
    const TransitionEstimate estimate = estimator.finish();
    const auto swapped =
        std::count_if(estimate.flagged.begin(), estimate.flagged.end(), [](const FlaggedRow& row) {
          return row.reason.find("can be swapped") != std::string::npos;
        });
    EXPECT_EQ(swapped, other == 0.9 ? 3 : 0);
  }
}

// Readings that say nothing leave the prior: 100 particles of equal weight, of which 95 % limits
// leave out one on either side, or four on one. Rows are poorer than after one visit.
TEST(ParticleEstimator, LimitsAreAsFarOutAsSoFewParticlesCanTell) {
  ParticleEstimator estimator(
      with_readings({0.5, 0.5, 0.5 + 1e-6, 0.5 - 1e-6, 0.5 - 1e-6, 0.5 + 1e-6}), {},
      Rng({10, 0, Role::test}));
  estimator.add(std::vector<Action>(60, Action{0}), std::vector<Observation>(60, Observation{0}));
  const TransitionEstimate estimate = estimator.finish();
  const ParticlePosterior& posterior = estimator.posterior();
  ASSERT_EQ(posterior.num_particles(), 100);
  ASSERT_EQ(posterior.report().resamplings, 0);
  for (std::size_t e = 0; e < estimate.lower.size(); ++e) {
    int below = 0;
    int above = 0;
    for (int p = 0; p < 100; ++p) {
      const double value = posterior.transition(p).values()[e];
      below += static_cast<int>(value < estimate.lower[e]);
      above += static_cast<int>(value > estimate.upper[e]);
    }
    EXPECT_LE(std::min(below, above), 1) << e;
    EXPECT_LE(std::max(below, above), std::min(below, above) == 1 ? 1 : 4) << e;
  }
  ASSERT_EQ(estimate.flagged.size(), 3U);
  EXPECT_THAT(estimate.flagged[0].reason, HasSubstr("less about it than one visit"));
}

TEST(ParticleEstimator, HasNoErrorBarsWhenTheParticlesCollapsed) {
  const Pomdp model = model_of(3, Timing::before, 0.0, 15);
  const Trajectory rows = test::play_uniformly(model, 5000, 0.0, 16);
  ParticleEstimateOptions options;
  options.posterior.move = ParticleMove::none;
  ParticleEstimator estimator(model, options, Rng({8, 0, Role::test}));
  estimator.add(rows.actions, rows.observations);
  const TransitionEstimate estimate = estimator.finish();
  EXPECT_EQ(estimate.status, EstimateStatus::flagged);
  EXPECT_TRUE(estimate.standard_error.empty());
  ASSERT_FALSE(estimate.warnings.empty());
  EXPECT_THAT(estimate.warnings[0], HasSubstr("collapsed"));
}

}  // namespace
}  // namespace oas
