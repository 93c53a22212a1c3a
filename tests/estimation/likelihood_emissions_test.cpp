#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"
#include "support/worst.hpp"

/// Which states emitted the rows, and passes at other sensors than the model's.
namespace oas::test {
namespace {

using ::testing::HasSubstr;

Pomdp model_of(int states, Timing timing, std::uint64_t seed, double concentration = 0.5) {
  RandomModelOptions options;
  options.num_states = states;
  options.timing = timing;
  options.concentration = concentration;
  return random_model(options, seed);
}

void append_run(TransitionLikelihood& likelihood, const Trajectory& rows) {
  likelihood.start_run();
  likelihood.append(rows.actions, rows.observations);
}

PassOptions with_emissions(const ObservationModel* sensors = nullptr) {
  PassOptions options;
  options.emissions = true;
  if (sensors != nullptr) options.sensors = std::make_shared<const ObservationModel>(*sensors);
  return options;
}

std::size_t entry(const Pomdp& model, Action a, int s, Observation o) {
  return static_cast<std::size_t>((a * model.num_states() + s) * model.num_observations() + o);
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  EXPECT_EQ(x.size(), y.size());
  Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) worst.take(std::abs(x[i] - y[i]));
  return worst.value();
}

class Emissions : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, Emissions, ::testing::Values(Timing::before, Timing::after));

// Fixed and any sizes, several runs, one of a single row, missing rows, given and other sensors.
TEST_P(Emissions, AreWhatTheSumOverAllPathsSays) {
  for (const int states : {1, 2, 3, 5, 7}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Pomdp model = model_of(states, GetParam(), seed);
      const Pomdp other = model_of(states, GetParam(), seed + 50);
      for (const bool own : {true, false}) {
        PomdpParts parts = model.parts();
        if (!own) parts.sensors = other.sensors();
        const Pomdp at(std::move(parts));
        TransitionLikelihood likelihood(model);
        std::vector<double> expected(model.sensors().values().size(), 0.0);
        double log_likelihood = 0.0;
        for (const std::size_t length : {std::size_t{1}, std::size_t{states > 4 ? 4U : 6U}}) {
          const Trajectory rows = play_uniformly(model, length, 0.2, 10 * seed + length);
          append_run(likelihood, rows);
          const PathPosterior paths = enumerate_paths(at, rows.actions, rows.observations);
          log_likelihood += std::log(paths.likelihood);
          for (std::size_t t = 0; t < rows.size(); ++t) {
            if (rows.observations[t] == kMissing) continue;
            const auto emitter = static_cast<Eigen::Index>(t) + (GetParam() == Timing::after);
            for (int s = 0; s < states; ++s) {
              expected[entry(model, rows.actions[t], s, rows.observations[t])] +=
                  paths.states(emitter, s);
            }
          }
        }
        const LikelihoodPass pass =
            likelihood.pass(model.transition(), with_emissions(own ? nullptr : &at.sensors()));
        EXPECT_NEAR(pass.log_likelihood, log_likelihood, 1e-11);
        EXPECT_LT(largest_difference(pass.emission_counts, expected), 1e-11) << states;
      }
    }
  }
}

ObservationModel moved(const ObservationModel& sensors, std::size_t from, std::size_t to,
                       double mass) {
  std::vector<double> values(sensors.values().begin(), sensors.values().end());
  values[from] -= mass;
  values[to] += mass;
  return {sensors.num_states(), sensors.num_actions(), sensors.num_observations(), values};
}

TEST_P(Emissions, DividedByTheSensorsAreTheDerivative) {
  const Pomdp model = model_of(3, GetParam(), 5, 5.0);
  TransitionLikelihood likelihood(model);
  for (std::uint64_t run = 0; run < 3; ++run) {
    append_run(likelihood, play_uniformly(model, 400, 0.1, run));
  }
  const Pomdp at = model_of(3, GetParam(), 6, 5.0);
  const ObservationModel& sensors = at.sensors();
  const auto value = [&](std::size_t from, std::size_t to, double mass) {
    PassOptions options;
    options.sensors = std::make_shared<const ObservationModel>(moved(sensors, from, to, mass));
    return likelihood.pass(at.transition(), options).log_likelihood;
  };
  const std::vector<double> counts =
      likelihood.pass(at.transition(), with_emissions(&sensors)).emission_counts;
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t other = i / 4 * 4 + (i + 1) % 4;
    const double slope = (value(other, i, kStep) - value(i, other, kStep)) / (2.0 * kStep);
    EXPECT_NEAR(counts[i] / sensors.values()[i] - counts[other] / sensors.values()[other], slope,
                2e-5 * (1.0 + std::abs(slope)));
  }
}

// Blocks, windows, batches and threads; sums over states are numbers of rows.
TEST_P(Emissions, LongRunsAreExactAcrossBlocksWindowsAndBatches) {
  for (const int states : {3, 7}) {
    const Pomdp model = model_of(states, GetParam(), 2);
    TransitionLikelihood likelihood(model);
    std::vector<double> expected(model.sensors().values().size(), 0.0);
    for (const std::size_t length : {std::size_t{15'000}, std::size_t{64}, std::size_t{9'000}}) {
      const Trajectory rows = play_uniformly(model, length, 0.05, length);
      append_run(likelihood, rows);
      const std::size_t shift = GetParam() == Timing::after ? 1 : 0;
      smooth(model, rows.actions, rows.observations,
             [&](std::size_t t, std::span<const double>, std::span<const double> smoothed, double) {
               if (t < shift || t - shift >= rows.size()) return;
               if (rows.observations[t - shift] == kMissing) return;
               for (int s = 0; s < states; ++s) {
                 expected[entry(model, rows.actions[t - shift], s, rows.observations[t - shift])] +=
                     smoothed[static_cast<std::size_t>(s)];
               }
             });
    }
    PassOptions options = with_emissions();
    options.batches = 40;
    const LikelihoodPass pass = likelihood.pass(model.transition(), options, {1});
    EXPECT_LT(largest_difference(pass.emission_counts, expected), 1e-8);
    EXPECT_EQ(likelihood.pass(model.transition(), options, {4}).batch_emission_counts,
              pass.batch_emission_counts);
    const std::size_t width = pass.emission_counts.size();
    ASSERT_EQ(pass.batch_emission_counts.size(), width * pass.batch_steps.size());
    std::vector<double> sums(width, 0.0);
    for (std::size_t i = 0; i < pass.batch_emission_counts.size(); ++i) {
      sums[i % width] += pass.batch_emission_counts[i];
    }
    EXPECT_LT(largest_difference(sums, pass.emission_counts), 1e-8);
    const double total =
        std::accumulate(pass.emission_counts.begin(), pass.emission_counts.end(), 0.0);
    EXPECT_NEAR(total, static_cast<double>(likelihood.rows() - likelihood.missing()), 1e-7);
    // What is asked for changes nothing else.
    PassOptions plain;
    plain.batches = 40;
    EXPECT_EQ(likelihood.pass(model.transition(), plain).score, pass.score);
    EXPECT_TRUE(likelihood.pass(model.transition(), plain).emission_counts.empty());
  }
}

// Two windows of a run, the second from the belief that the first ended with.
TEST_P(Emissions, OfWindowsAddUp) {
  const Pomdp model = model_of(3, GetParam(), 4);
  const Trajectory rows = play_uniformly(model, 6'000, 0.05, 1);
  const ObservationModel sensors = model_of(3, GetParam(), 9, 5.0).sensors();
  const auto part = [&](std::size_t first, std::size_t end) {
    TransitionLikelihood likelihood(model);
    for (std::size_t t = first; t < end; ++t) {
      likelihood.append(rows.actions[t], rows.observations[t]);
    }
    return likelihood;
  };
  PassOptions options = with_emissions(&sensors);
  const LikelihoodPass whole = part(0, 6'000).pass(model.transition(), options);
  options.rows_ahead = 1'000;
  const LikelihoodPass first = part(0, 4'000).pass(model.transition(), options);
  options.rows_ahead = 0;
  options.first_belief = first.last_belief;
  const LikelihoodPass second = part(3'000, 6'000).pass(model.transition(), options);
  EXPECT_NEAR(first.log_likelihood + second.log_likelihood, whole.log_likelihood, 1e-7);
  for (std::size_t i = 0; i < whole.emission_counts.size(); ++i) {
    EXPECT_NEAR(first.emission_counts[i] + second.emission_counts[i], whole.emission_counts[i],
                1e-7);
  }
}

// Rows that need a normalisation in every step: the second attempt must not count twice.
TEST_P(Emissions, AreCountedOnceWhereTheFirstAttemptFails) {
  PomdpParts parts = model_of(2, GetParam(), 1).parts();
  parts.transition = TransitionModel(2, 2, {1.0, 1e-18, 1e-18, 1.0, 1.0, 1e-18, 1e-18, 1.0});
  parts.sensors = ObservationModel(2, 2, 4,
                                   {1.0, 1e-40, 0.0, 0.0, 1e-40, 1.0, 0.0, 0.0,  //
                                    1.0, 1e-40, 0.0, 0.0, 1e-40, 1.0, 0.0, 0.0});
  const Pomdp model(parts);
  TransitionLikelihood likelihood(model);
  for (int t = 0; t < 500; ++t) likelihood.append(Action{0}, Observation{t % 2});
  const LikelihoodPass pass = likelihood.pass(model.transition(), with_emissions());
  ASSERT_TRUE(pass.possible());
  const double total =
      std::accumulate(pass.emission_counts.begin(), pass.emission_counts.end(), 0.0);
  EXPECT_NEAR(total, 500.0, 1e-9);
  EXPECT_NEAR(pass.emission_counts[entry(model, Action{0}, 1, Observation{1})], 250.0, 0.1);
}

TEST(EmissionOptions, ThatCannotBeAreRefusedByName) {
  const Pomdp model = model_of(3, Timing::before, 1);
  const auto message = [](const TransitionLikelihood& rows, const PassOptions& options) {
    try {
      static_cast<void>(rows.pass(TransitionModel::uniform(3, 2), options));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("no exception");
  };
  const TransitionLikelihood finite(model);
  EXPECT_EQ(message(finite, with_emissions()), "no exception");
  const Pomdp small = model_of(2, Timing::before, 1);
  EXPECT_THAT(message(finite, with_emissions(&small.sensors())),
              HasSubstr("sensors are 2x2x4 (actions, states, observations) where the rows have "
                        "2, 3, 4"));
  PassOptions weighted = with_emissions();
  weighted.forgetting.half_life = 100.0;
  EXPECT_THAT(message(finite, weighted), HasSubstr("counts of emissions with weights"));
  const TransitionLikelihood vectors = TransitionLikelihood::with_vectors(model);
  EXPECT_THAT(message(vectors, with_emissions()), HasSubstr("bring their likelihoods"));
  PassOptions sensors;
  sensors.sensors = std::make_shared<const ObservationModel>(model.sensors());
  EXPECT_THAT(message(vectors, sensors), HasSubstr("bring their likelihoods"));
}

}  // namespace
}  // namespace oas::test
