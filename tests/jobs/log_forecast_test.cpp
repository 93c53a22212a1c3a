#include "oas/jobs/log_forecast.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/jobs/log_policy.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

/// From a log to the forecast of each unit: the filter's belief, then products of matrices.
namespace oas {
namespace {

DensitySensors sensors_at(double mean) {
  return {2,
          1,
          {VectorDensity({Density::gaussian(0.0, 1.0)}),
           VectorDensity({Density::gaussian(mean, 1.0)})}};
}

class ForecastOfLog : public testing::Test {
 protected:
  ForecastOfLog() {
    LogWriter writer(path_, model_, {.run = true});
    for (std::uint32_t run = 0; run < 3; ++run) {
      ClosedLoop(model_, {.name = "uniform"}, 4, run).advance(40 + run, runs_.emplace_back());
      writer.write(runs_.back(), run);
    }
    writer.commit();
    options_.question.steps = 12;
    options_.question.schedule = {Action{0}, Action{1}};
    options_.question.reach = {State{3}};
  }

  [[nodiscard]] Forecast by_hand(const Trajectory& run, const TransitionModel& transition) const {
    BeliefFilter filter(model_.with_transition(transition));
    for (std::size_t t = 0; t < run.size(); ++t) filter.update(run.actions[t], run.observations[t]);
    return Forecaster(transition, options_.question)(filter.belief());
  }

  test::TemporaryDirectory folder_;
  std::string path_ = folder_.file("log.csv");
  Pomdp model_ = make_problem("machine-maintenance");
  std::vector<Trajectory> runs_;
  ForecastOptions options_;
};

TEST_F(ForecastOfLog, WithoutDrawsTakesTheModelAsExact) {
  const auto units = forecast_log(model_, {}, path_, options_);
  ASSERT_EQ(units.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Forecast expected = by_hand(runs_[i], model_.transition());
    EXPECT_EQ(units[i].unit, std::to_string(i));
    EXPECT_EQ(units[i].rows, static_cast<std::int64_t>(runs_[i].size()));
    EXPECT_EQ(units[i].middle.states, expected.states);
    EXPECT_EQ(units[i].middle.survival, expected.survival);
    EXPECT_EQ(units[i].middle.mean_steps, expected.mean_steps);
    EXPECT_TRUE(units[i].lower.states.empty());
  }
}

// Two draws: the middle is their mean, and the limits lie between them or at a bound.
TEST_F(ForecastOfLog, DrawsFilterAndForecastEachByItself) {
  std::vector<TransitionModel> draws = {model_.transition(), TransitionModel::uniform(4, 3)};
  const auto units = forecast_log(model_, draws, path_, options_);
  for (std::size_t i = 0; i < 3; ++i) {
    const Forecast one = by_hand(runs_[i], draws[0]);
    const Forecast other = by_hand(runs_[i], draws[1]);
    for (std::size_t k = 0; k < one.survival.size(); ++k) {
      EXPECT_NEAR(units[i].middle.survival[k], 0.5 * (one.survival[k] + other.survival[k]), 1e-15);
      EXPECT_LE(units[i].lower.survival[k], units[i].middle.survival[k]);
      EXPECT_GE(units[i].upper.survival[k], units[i].middle.survival[k]);
    }
    EXPECT_NEAR(units[i].middle.mean_steps, 0.5 * (one.mean_steps + other.mean_steps), 1e-12);
  }
  options_.parallelism = {3};
  const auto again = forecast_log(model_, draws, path_, options_);
  EXPECT_EQ(again.back().upper.states, units.back().upper.states);
}

// Whatever the draws say, limits hold the forecast of the model that they are asked to hold; the
// middle does not move, and a model that rules out what was seen is left out.
// Where the unit is hangs on the sensors: each draw of T filters under the densities it belongs to.
TEST_F(ForecastOfLog, DrawsOfDensitiesReadTheLogAgain) {
  const auto model_with = [](double mean, std::vector<DensitySensors> draws) {
    PomdpParts parts;
    parts.states = Labels(2, "state");
    parts.actions = Labels(1, "action");
    parts.observations = Labels(1, "observation");
    parts.sensors = ObservationModel(2, 1, 1, {1.0, 1.0});
    parts.transition = TransitionModel(2, 1, {0.9, 0.1, 0.0, 1.0});
    return ContinuousPomdp(Pomdp(std::move(parts)), sensors_at(mean), {}, {50.0, std::move(draws)});
  };
  const std::string log = folder_.file("readings.csv");
  std::ofstream(log) << "run,observation\na,0.2\na,1.4\nb,1.1\nb,1.6\n";
  const ContinuousPomdp model = model_with(2.0, {sensors_at(1.5), sensors_at(3.0)});
  const std::vector<TransitionModel> draws = {
      TransitionModel(2, 1, {0.8, 0.2, 0.0, 1.0}), TransitionModel(2, 1, {0.7, 0.3, 0.0, 1.0}),
      TransitionModel(2, 1, {0.9, 0.1, 0.0, 1.0}), TransitionModel(2, 1, {0.6, 0.4, 0.0, 1.0})};
  ForecastOptions options;
  options.question.steps = 5;
  options.question.schedule = {Action{0}};
  options.question.reach = {State{1}};
  const ForecastOptions plain = options;
  options.drawn_densities = true;
  const auto units = forecast_log(model, draws, log, options);
  ASSERT_EQ(units.size(), 2U);
  std::vector<double> mean(2, 0.0);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const ContinuousPomdp one = model_with(i < 2 ? 1.5 : 3.0, {});
    const std::vector<TransitionModel> only = {draws[i]};
    const auto alone = forecast_log(one, only, log, plain);
    for (std::size_t u = 0; u < 2; ++u) mean[u] += alone[u].middle.survival.back() / 4.0;
  }
  for (std::size_t u = 0; u < 2; ++u) EXPECT_NEAR(units[u].middle.survival.back(), mean[u], 1e-14);
  EXPECT_GT(std::abs(forecast_log(model, draws, log, plain)[0].middle.survival.back() - mean[0]),
            1e-3);
}

TEST_F(ForecastOfLog, LimitsHoldTheModelTheyAreAskedTo) {
  const std::vector<TransitionModel> draws(5, TransitionModel::uniform(4, 3));
  const auto narrow = forecast_log(model_, draws, path_, options_);
  options_.within = model_.transition();
  const auto units = forecast_log(model_, draws, path_, options_);
  for (std::size_t i = 0; i < 3; ++i) {
    const Forecast held = by_hand(runs_[i], model_.transition());
    EXPECT_EQ(units[i].middle.survival, narrow[i].middle.survival);
    EXPECT_LE(units[i].lower.mean_steps, held.mean_steps);
    EXPECT_GE(units[i].upper.mean_steps, held.mean_steps);
    EXPECT_LE(units[i].lower.ever, held.ever);
    for (std::size_t k = 0; k < held.survival.size(); ++k) {
      EXPECT_LE(units[i].lower.survival[k], held.survival[k]);
      EXPECT_GE(units[i].upper.survival[k], held.survival[k]);
    }
  }
}

// What follows a gap is another run from an unknown state, but the same unit.
TEST_F(ForecastOfLog, TheLastPartOfAUnitCounts) {
  std::ofstream(path_) << "run,time,action,observation\na,1,0,0\na,2,0,0\na,9,0,1\nb,1,0,0\n";
  LogOptions rows;
  rows.step = "1";
  rows.gaps = "new-run";
  const auto units = forecast_log(model_, {}, path_, options_, rows);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].unit, "a");
  EXPECT_EQ(units[1].unit, "b");
  BeliefFilter filter(model_);
  filter.reset(RunStart::unknown());
  filter.update(Action{0}, Observation{1});
  const auto belief = units[0].belief(4);
  EXPECT_THAT(std::vector(belief.begin(), belief.end()),
              testing::ElementsAreArray(filter.belief()));
}

// A log that ends with an action, reading-first: its reading is still to come, and the policy
// answers it. Against all that may be read.
TEST_F(ForecastOfLog, APolicyAnswersTheReadingThatIsStillToCome) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    test::RandomModelOptions random;
    random.timing = Timing::after;
    random.num_observations = 3;
    PomdpParts parts = test::random_model(random, seed).parts();
    Rng rng({seed, 3, Role::policy});
    parts.first_observation = ObservationModel(3, 1, 3, test::random_rows(3, 3, 0.5, 0.0, rng));
    parts.rows = Rows::reading_first;
    const Pomdp model(parts);
    std::ofstream(path_) << "action,observation\n1,2\n0,1\n1,0\n";
    options_.question.steps = 3;
    options_.question.reach = {};
    options_.policy = parse_policy_text("threshold:0>0.4=0,1>0.4=1,else=0", model);
    const auto& rule = std::get<BeliefRule>(options_.policy->acts);
    BeliefFilter filter(model);
    filter.begin(Observation{2});
    filter.update(Action{1}, Observation{1});
    filter.update(Action{0}, Observation{0});
    const std::vector<double> before(filter.belief().begin(), filter.belief().end());
    std::vector<Vector> expected(4, Vector::Zero(3));
    // P(what was read so far), the belief then, and the law of the state together with it.
    const std::function<void(const std::vector<double>&, Vector, Action, int)> go =
        [&](const std::vector<double>& belief, Vector law, Action action, int step) {
          const Vector moved = model.transition().matrix(action).transpose() * law;
          expected[static_cast<std::size_t>(step)] += moved;
          if (step == 3) return;
          for (Observation o{0}; o < 3; ++o) {
            Vector seen = moved;
            for (State s{0}; s < 3; ++s) seen[s.value()] *= model.sensors()(action, s, o);
            BeliefFilter next(model);
            next.reset(Belief(belief));
            next.update(action, o);
            const std::vector<double> then(next.belief().begin(), next.belief().end());
            go(then, seen, Action{rule.best(then)}, step + 1);
          }
        };
    go(before, VectorView(before.data(), 3), Action{1}, 0);
    const std::vector<UnitForecast> units = forecast_log(model, {}, path_, options_);
    ASSERT_EQ(units.size(), 1U);
    for (std::size_t k = 0; k <= 3; ++k) {
      for (std::size_t s = 0; s < 3; ++s) {
        EXPECT_NEAR(units[0].middle.states[3 * k + s], expected[k][static_cast<Eigen::Index>(s)],
                    1e-6)
            << "seed " << seed << ", step " << k;
      }
    }
  }
}

// A log without names holds one unit, which stays one at every gap.
TEST_F(ForecastOfLog, AUnitWithoutNameStaysOneUnit) {
  std::ofstream(path_) << "time,action,observation\n1,0,0\n2,0,0\n9,0,1\n10,0,1\n20,0,0\n";
  LogOptions rows;
  rows.step = "1";
  rows.gaps = "new-run";
  const auto units = forecast_log(model_, {}, path_, options_, rows);
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].unit, "0");
  EXPECT_EQ(units[0].rows, 20);
  options_.question.schedule.clear();
  options_.policy = ask_policy("constant:0", model_, rows);
  const auto under_policy = forecast_log(model_, {}, path_, options_, rows);
  ASSERT_EQ(under_policy.size(), 1U);
  EXPECT_EQ(under_policy[0].unit, "0");
}

TEST_F(ForecastOfLog, ChecksItsArguments) {
  EXPECT_THROW(static_cast<void>(forecast_log(model_.without_transition(), {}, path_, options_)),
               InvalidArgument);
  options_.confidence = 1.0;
  EXPECT_THROW(static_cast<void>(forecast_log(model_, {}, path_, options_)), InvalidArgument);
}

}  // namespace
}  // namespace oas
