#include "oas/sensors/density_calibration.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "support/random_densities.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Pomdp chain(Timing timing = Timing::before) {
  RandomModelOptions options;
  options.num_states = 2;
  options.timing = timing;
  return random_model(options, 3);
}

// `count` readings of each (action, state), from these densities of states.
LabelledReadings readings_of(const std::vector<VectorDensity>& densities, int count,
                             std::uint64_t seed) {
  const int states = static_cast<int>(densities.size());
  const int d = densities.front().dimension();
  LabelledReadings readings(states, 2, d);
  readings.files = {"log.csv"};
  for (int i = 0; i < d; ++i) {
    readings.columns.push_back("c" + std::to_string(i));
    readings.fields.push_back(i + 3);
  }
  Rng rng({seed, 0, Role::test});
  std::vector<double> x(static_cast<std::size_t>(d));
  long line = 2;
  for (Action a{0}; a < 2; ++a) {
    for (State s{0}; s < states; ++s) {
      for (int i = 0; i < count; ++i) {
        densities[static_cast<std::size_t>(s)].sample(x, rng);
        auto& group = readings.at(a, s);
        group.values.insert(group.values.end(), x.begin(), x.end());
        group.places.push_back({0, line++});
      }
    }
  }
  readings.tally.rows = line - 2;
  return readings;
}

VectorDensity one(const Density& density) { return VectorDensity({density}); }

// A patient who died is read no more: the density of that state is that of all readings.
TEST(LabelledReadings, StatesThatAreNeverReadBorrowFromTheOthers) {
  const std::vector<VectorDensity> densities = {VectorDensity({Density::gaussian(0.0, 1.0)}),
                                                VectorDensity({Density::gaussian(4.0, 1.0)})};
  const LabelledReadings read = readings_of(densities, 20, 5);
  LabelledReadings more(3, 2, 1);
  for (Action a{0}; a < 2; ++a) {
    for (State s{0}; s < 2; ++s) more.at(a, s) = read.at(a, s);
  }
  const Labels names({"ill", "well", "dead"}, "state");
  const std::vector<int> dead = {2};
  LabelledReadings filled = more;
  filled.borrow_for(dead, names);
  for (Action a{0}; a < 2; ++a) {
    EXPECT_EQ(filled.at(a, State{2}).size(), 40U);
    EXPECT_EQ(filled.at(a, State{2}).values.size(), 40U);
    EXPECT_EQ(filled.at(a, State{0}).values, more.at(a, State{0}).values);
  }
  const std::vector<int> ill = {0};
  try {
    more.borrow_for(ill, names);
    FAIL() << "a state that was read borrowed";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "unread: state 'ill' has 20 labelled readings");
  }
}

TEST(DensityCalibration, ChoosesTheFamilyOfTheSensor) {
  const auto chosen = [](const Density& a, const Density& b) {
    const auto found = calibrate_densities(readings_of({one(a), one(b)}, 300, 2), chain());
    return found.families.front();
  };
  EXPECT_EQ(chosen(Density::gaussian(0, 1), Density::gaussian(2, 1)), "normal");
  EXPECT_EQ(chosen(Density::lognormal(0, 0.8), Density::lognormal(1, 0.8)), "log-normal");
  EXPECT_EQ(chosen(Density::gamma(1.2, 1), Density::gamma(3, 1)), "gamma");
  EXPECT_EQ(chosen(Density::poisson(0.5), Density::poisson(4)), "poisson");
  EXPECT_EQ(chosen(Density::poisson(1e-9), Density::poisson(2)), "poisson");  // all 0, then
  const Density two =
      Density::mixture({0.5, 0.5}, {Density::gaussian(-3, 0.6), Density::gaussian(3, 0.6)});
  EXPECT_EQ(chosen(two, Density::gaussian(0, 1)), "mixture");
  EXPECT_EQ(chosen(Density::table({0, 1, 5, 6}, {0.5, 0.0, 0.5}), Density::gaussian(3, 0.5)),
            "mixture");
}

TEST(DensityCalibration, FindsComponentsThatDependOnEachOther) {
  const VectorDensity a = VectorDensity::gaussian({0, 0}, {1, 0.8, 0.8, 1});
  const VectorDensity b = VectorDensity::gaussian({2, 0}, {1, -0.8, -0.8, 1});
  const auto joint = calibrate_densities(readings_of({a, b}, 100, 2), chain());
  EXPECT_THAT(joint.families, ElementsAre("joint-normal"));
  EXPECT_TRUE(joint.sensors(Action{1}, State{0}).dependent());
  EXPECT_TRUE(joint.draws.front()(Action{1}, State{0}).dependent());
  const VectorDensity c({Density::gaussian(0, 1), Density::gamma(2, 1)});
  const VectorDensity d({Density::gaussian(2, 1), Density::gamma(4, 1)});
  const auto alone = calibrate_densities(readings_of({c, d}, 200, 2), chain());
  EXPECT_THAT(alone.families, ElementsAre("normal", "gamma"));
  EXPECT_EQ(alone.scores.size(), 3);
}

int count_kind(const DensityCalibration& found, Density::Kind kind) {
  int count = 0;
  for (const DensitySensors& draw : found.draws) {
    count += draw(Action{0}, State{0}).marginals().front().kind() == kind;
  }
  return count;
}

// Where readings leave the family open, random densities are of several; where they do not, or
// where it was given, of one.
TEST(DensityCalibration, DrawsAreOfAllFamiliesInDoubt) {
  const std::vector<VectorDensity> skewed = {one(Density::gamma(6, 1)), one(Density::gamma(14, 1))};
  const auto open = calibrate_densities(readings_of(skewed, 15, 4), chain());
  const int normal = count_kind(open, Density::Kind::gaussian);
  const int lognormal = count_kind(open, Density::Kind::lognormal);
  const int gamma = count_kind(open, Density::Kind::gamma);
  EXPECT_EQ(open.draws.size(), 40);
  EXPECT_GT((normal > 0) + (lognormal > 0) + (gamma > 0), 1);
  DensityCalibrationOptions options;
  options.family = "gamma";
  const auto given = calibrate_densities(readings_of(skewed, 15, 4), chain(), options);
  EXPECT_EQ(count_kind(given, Density::Kind::gamma), 40);
  const std::vector<VectorDensity> plain = {one(Density::gamma(1, 1)), one(Density::gamma(5, 1))};
  const auto clear = calibrate_densities(readings_of(plain, 1500, 4), chain());
  EXPECT_EQ(count_kind(clear, Density::Kind::gamma), 40);
}

// Whether components depend on each other is a choice, too.
TEST(DensityCalibration, DrawsLeaveDependenceOpenWhereReadingsDo) {
  const VectorDensity a = VectorDensity::gaussian({0, 0}, {1, 0.25, 0.25, 1});
  const VectorDensity b = VectorDensity::gaussian({1, 1.5}, {1, 0, 0, 2});
  const auto found = calibrate_densities(readings_of({a, b}, 15, 5), chain());
  int dependent = 0;
  for (const DensitySensors& draw : found.draws) {
    dependent += draw(Action{0}, State{0}).dependent();
  }
  EXPECT_GT(dependent, 0);
  EXPECT_LT(dependent, 40);
}

TEST(DensityCalibration, SharesReadingsOfAllActionsUnlessTold) {
  const auto readings =
      readings_of({one(Density::gaussian(0, 1)), one(Density::gaussian(2, 1))}, 50, 2);
  DensityCalibrationOptions options;
  options.family = "normal";
  const auto shared = calibrate_densities(readings, chain(), options);
  EXPECT_EQ(shared.sensors(Action{0}, State{1}), shared.sensors(Action{1}, State{1}));
  EXPECT_EQ(shared.readings.at(Action{0}, State{1}).size(), 100);
  EXPECT_THAT(shared.warnings, IsEmpty());
  options.by_action = true;
  const auto by_action = calibrate_densities(readings, chain(), options);
  EXPECT_NE(by_action.sensors(Action{0}, State{1}), by_action.sensors(Action{1}, State{1}));
  EXPECT_EQ(by_action.readings.at(Action{1}, State{1}).size(), 50);
}

// Actions that are chosen from readings give biased densities by action, not shared ones.
TEST(DensityCalibration, SharedDensitiesAreRightWhenActionsWereChosenFromReadings) {
  const auto all =
      readings_of({one(Density::gaussian(0, 1)), one(Density::gaussian(2, 1))}, 1000, 4);
  LabelledReadings chosen(2, 2, 1);
  chosen.files = all.files;
  chosen.columns = all.columns;
  chosen.fields = all.fields;
  for (Action a{0}; a < 2; ++a) {
    for (State s{0}; s < 2; ++s) {
      for (const double x : all.at(a, s).values) {
        auto& group = chosen.at(Action{x > 1.0 ? 1 : 0}, s);
        group.values.push_back(x);
        group.places.push_back({});
      }
    }
  }
  DensityCalibrationOptions options;
  options.family = "normal";
  const auto before = calibrate_densities(chosen, chain(), options);
  EXPECT_NEAR(before.sensors(Action{0}, State{0}).marginals()[0].parameters()[0], 0.0, 0.13);
  EXPECT_LT(before.dependence.p_value, 1e-6);
  ASSERT_EQ(before.warnings.size(), 1);
  EXPECT_THAT(before.warnings[0], HasSubstr("chosen from these readings"));
  const auto after = calibrate_densities(chosen, chain(Timing::after), options);
  ASSERT_EQ(after.warnings.size(), 1);
  EXPECT_THAT(after.warnings[0], HasSubstr("use --by-action"));
}

TEST(DensityCalibration, TestOfActionsKeepsItsLevel) {
  int below = 0;
  constexpr int kTrials = 300;
  for (int i = 0; i < kTrials; ++i) {
    const auto readings = readings_of({one(Density::gamma(1, 1)), one(Density::gaussian(2, 1))}, 12,
                                      static_cast<std::uint64_t>(i + 10));
    below += test_action_dependence(readings).p_value < 0.1;
  }
  // 30 are expected; 5 standard deviations are 26.
  EXPECT_GT(below, 4);
  EXPECT_LT(below, 56);
}

TEST(DensityCalibration, SameBytesForAnyNumberOfThreads) {
  const auto readings = readings_of({one(Density::gamma(2, 1)), one(Density::gamma(5, 1))}, 40, 2);
  const auto first = calibrate_densities(readings, chain(), {}, {1});
  const auto other = calibrate_densities(readings, chain(), {}, {4});
  EXPECT_EQ(first.sensors, other.sensors);
  EXPECT_EQ(first.draws, other.draws);
  EXPECT_EQ(first.draws.size(), 40);
  EXPECT_NE(first.draws[0], first.draws[1]);
}

std::string error_of(const LabelledReadings& readings, const std::string& family) {
  DensityCalibrationOptions options;
  options.family = family;
  try {
    static_cast<void>(calibrate_densities(readings, chain(), options));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(DensityCalibration, FaultsNameFileLineColumnAndValue) {
  auto readings = readings_of({one(Density::gamma(5, 1)), one(Density::gamma(9, 1))}, 20, 2);
  EXPECT_EQ(error_of(readings, "gamma"), "no error");
  readings.at(Action{0}, State{1}).values[4] = -0.25;
  EXPECT_THAT(error_of(readings, "gamma"), HasSubstr("log.csv:26:3: column 'c0', state '"));
  EXPECT_THAT(error_of(readings, "gamma"), HasSubstr("-0.25 is not positive"));
  EXPECT_EQ(error_of(readings, "normal"), "no error");
  const auto chosen = calibrate_densities(readings, chain());
  EXPECT_THAT(chosen.scores[0][2].left_out, HasSubstr("-0.25 is not positive"));
  EXPECT_THAT(error_of(readings, "normal+normal"), HasSubstr("names 2 components"));
  EXPECT_THAT(error_of(readings, "weibull"), HasSubstr("'weibull' is not one of auto, normal"));
  EXPECT_THAT(error_of(readings, "joint-normal"), HasSubstr("single numbers"));
  auto& group = readings.at(Action{0}, State{0});
  for (Action a{0}; a < 2; ++a) {
    for (double& x : readings.at(a, State{0}).values) x = 3.5;
  }
  for (const char* family : {"auto", "normal", "kernel"}) {
    EXPECT_THAT(error_of(readings, family), HasSubstr("log.csv:2:3: ")) << family;
    EXPECT_THAT(error_of(readings, family), HasSubstr("all 40 readings are 3.5")) << family;
  }
  group.values.resize(2);
  group.places.resize(2);
  readings.at(Action{1}, State{0}) = {};
  EXPECT_THAT(error_of(readings, "auto"), HasSubstr("2 labelled readings"));
}

TEST(DensityCalibration, PartlyMissingVectorsAreUsedForWhatTheyTell) {
  const VectorDensity a({Density::gaussian(0, 1), Density::gamma(2, 1)});
  const VectorDensity b({Density::gaussian(3, 1), Density::gamma(4, 1)});
  auto readings = readings_of({a, b}, 40, 2);
  auto& group = readings.at(Action{0}, State{0});
  for (std::size_t t = 0; t < 20; ++t) group.values[2 * t + t % 2] = std::nan("");
  EXPECT_EQ(readings.component(Action{0}, State{0}, 0).size(), 30);
  EXPECT_EQ(readings.complete(Action{0}, State{0}).size(), 20);
  DensityCalibrationOptions options;
  options.family = "normal+gamma";
  const auto found = calibrate_densities(readings, chain(), options);
  double mean = 0.0;
  const auto pooled = readings.pooled().component(Action{0}, State{0}, 0);
  ASSERT_EQ(pooled.size(), 70);
  for (const double x : pooled.values) mean += x / 70.0;
  EXPECT_NEAR(found.sensors(Action{0}, State{0}).marginals()[0].parameters()[0], mean, 1e-12);
}

}  // namespace
}  // namespace oas::test
