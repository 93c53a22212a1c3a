#include "oas/jobs/log_densities.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/estimation/error_bars/density_errors.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_score.hpp"
#include "oas/model/continuous_json.hpp"
#include "support/random_densities.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const double kNan = std::nan("");

std::string written(const TemporaryDirectory& folder, const std::string& name,
                    const std::string& text) {
  std::ofstream(folder.file(name)) << text;
  return folder.file(name);
}

ContinuousPomdp plane_model(Timing timing) {
  RandomModelOptions options;
  options.timing = timing;
  options.num_states = 2;
  options.num_actions = 2;
  Rng rng({1, 0, Role::test});
  std::vector<VectorDensity> densities;
  for (int i = 0; i < 2; ++i) densities.push_back(random_gaussian(2, rng));
  for (int i = 0; i < 2; ++i) {
    densities.emplace_back(VectorDensity({random_density(Density::Kind::kernel, rng),
                                          random_density(Density::Kind::gaussian, rng)}));
  }
  return with_densities(options, 5, std::move(densities));
}

// The probability density of the rows by all paths, with marginals written down anew.
double enumerated(const ContinuousPomdp& model, const std::vector<int>& actions,
                  const std::vector<std::vector<double>>& readings) {
  const auto marginal = [&](Action a, State s, const std::vector<double>& x) {
    const VectorDensity& density = model.sensors()(a, s);
    if (std::isnan(x[0]) && std::isnan(x[1])) return 1.0;
    if (std::isnan(x[0])) return density.marginals()[1](x[1]);
    if (std::isnan(x[1])) return density.marginals()[0](x[0]);
    return density(x);
  };
  const std::size_t n = actions.size();
  const bool before = model.timing() == Timing::before;
  double total = 0.0;
  for (std::size_t path = 0; path < (std::size_t{1} << (n + 1)); ++path) {
    const auto state = [&](std::size_t t) { return State{static_cast<int>(path >> t & 1)}; };
    double p = model.chain().start()[static_cast<std::size_t>(state(0))];
    for (std::size_t t = 0; t < n; ++t) {
      const Action a{actions[t]};
      p *= model.chain().transition()(a, state(t), state(t + 1)) *
           marginal(a, state(before ? t : t + 1), readings[t]);
    }
    total += p;
  }
  return total;
}

TEST(PartlyMissingVectors, LikelihoodsAgreeWithTheEnumerationOfPaths) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const TemporaryDirectory folder;
    const ContinuousPomdp model = plane_model(timing);
    const std::string log = written(folder, "log.csv",
                                    "action,observation_1,observation_2\n0,0.5,\n1,,-1\n1,0.2,0.3\n"
                                    "0,,\n0,,1\n1,-0.4,\n");
    const double expected =
        enumerated(model, {0, 1, 1, 0, 0, 1},
                   {{0.5, kNan}, {kNan, -1}, {0.2, 0.3}, {kNan, kNan}, {kNan, 1}, {-0.4, kNan}});
    const LogScore score = score_logs(std::span(&model, 1), std::span(&log, 1));
    EXPECT_EQ(score.missing, 1);
    EXPECT_NEAR(score.models[0].value * 5.0, std::log(expected), 1e-9);
  }
}

// Labelled rows of both timings; the last row of a run says nothing in `after`.
TEST(LabelledReadingsOfLogs, BelongToTheStateThatEmitted) {
  const TemporaryDirectory folder;
  const std::string text =
      "run,state,action,vib,temp\na,0,0,1,10\na,1,1,2,\na,,0,3,30\nb,1,1,,\nb,0,0,5,50\n";
  const std::string log = written(folder, "log.csv", text);
  LogOptions options;
  options.columns = "observation=vib+temp";
  for (const Timing timing : {Timing::before, Timing::after}) {
    RandomModelOptions two;
    two.timing = timing;
    two.num_states = two.num_actions = 2;
    const DensitySkeleton skeleton{random_model(two, 1), 2};
    const LabelledReadings found = read_labelled(skeleton, std::span(&log, 1), {}, {}, options);
    EXPECT_THAT(found.columns, ElementsAre("vib", "temp"));
    EXPECT_THAT(found.fields, ElementsAre(4, 5));
    EXPECT_EQ(found.tally.rows, 5);
    EXPECT_EQ(found.tally.missing, 1);
    if (timing == Timing::before) {
      EXPECT_EQ(found.tally.unused, 2);
      EXPECT_THAT(found.at(Action{0}, State{0}).values, ElementsAre(1, 10, 5, 50));
      EXPECT_EQ(found.at(Action{0}, State{0}).places[1].line, 6);
      EXPECT_EQ(found.at(Action{1}, State{1}).values[0], 2.0);
      EXPECT_TRUE(std::isnan(found.at(Action{1}, State{1}).values[1]));
    } else {
      EXPECT_EQ(found.tally.unused, 4);
      EXPECT_THAT(found.at(Action{0}, State{1}).values, ElementsAre(1, 10));
    }
  }
}

DensitySkeleton reading_first_skeleton() {
  RandomModelOptions two;
  two.timing = Timing::after;
  two.num_states = two.num_actions = 2;
  PomdpParts parts = random_model(two, 1).parts();
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(2, 2, 1, std::vector<double>(4, 1.0));
  parts.reward = {};
  parts.rows = Rows::reading_first;
  return {Pomdp(parts), 1};
}

// Where rows are reading-first the state of a row emitted its reading, under the action before.
TEST(LabelledReadingsOfLogs, OfReadingFirstRowsAllCount) {
  const TemporaryDirectory folder;
  const std::string log =
      written(folder, "log.csv",
              "run,observation,state,action\na,1,0,1\na,2,1,0\na,3,0,\nb,4,1,1\nc,5,,1\nd,,1,1\n");
  DensitySkeleton skeleton = reading_first_skeleton();
  const LabelledReadings found = read_labelled(skeleton, std::span(&log, 1), {}, {}, {});
  EXPECT_THAT(found.at(Action{1}, State{1}).values, ElementsAre(2));
  EXPECT_THAT(found.at(Action{0}, State{0}).values, ElementsAre(3));
  EXPECT_EQ(found.at(Action{0}, State{0}).places[0].line, 4);
  EXPECT_THAT(found.first[0].values, ElementsAre(1));
  EXPECT_THAT(found.first[1].values, ElementsAre(4));
  EXPECT_EQ(found.tally.rows, 6);
  EXPECT_EQ(found.tally.unused, 2);
  EXPECT_THAT(found.pooled().at(Action{0}, State{1}).values, ElementsAre(2, 4));
  skeleton.first_density.emplace(2, 1, std::vector(2, VectorDensity({Density::gaussian(0, 1)})),
                                 "first_density");
  const LabelledReadings known = read_labelled(skeleton, std::span(&log, 1), {}, {}, {});
  EXPECT_TRUE(known.first.empty());
  EXPECT_EQ(known.tally.unused, 4);
  EXPECT_EQ(known.tally.known_first, 2);
}

// Densities by action leave one for first readings, of the same family; shared ones take them in.
TEST(LabelledReadingsOfLogs, FirstReadingsHaveADensity) {
  const DensitySkeleton skeleton = reading_first_skeleton();
  LabelledReadings readings(2, 2, 1);
  readings.files = {"l"};
  readings.columns = {"observation"};
  readings.fields = {2};
  readings.first.resize(2);
  Rng rng({6, 0, Role::test});
  const auto fill = [&](ReadingGroup& group, double mean) {
    for (int i = 0; i < 40; ++i) {
      group.values.push_back(mean + sample_normal(rng));
      group.places.push_back({});
    }
  };
  for (State s{0}; s < 2; ++s) {
    for (Action a{0}; a < 2; ++a) fill(readings.at(a, s), 10.0 * a.value() + 2.0 * s.value());
    fill(readings.first[static_cast<std::size_t>(s)], 50.0 + 2.0 * s.value());
  }
  readings.tally.rows = 240;
  DensityCalibrationOptions options;
  options.family = "normal";
  options.by_action = true;
  const DensityCalibration apart = calibrate_densities(readings, skeleton.chain, options);
  ASSERT_TRUE(apart.first_density.has_value());
  EXPECT_NEAR((*apart.first_density)(Action{0}, State{1}).marginals()[0].quantile(0.5), 52.0, 1.0);
  EXPECT_NEAR(apart.sensors(Action{1}, State{0}).marginals()[0].quantile(0.5), 10.0, 1.0);
  EXPECT_EQ(apart.draws.front().num_actions(), 2);
  const ContinuousPomdp model = calibrated_model(skeleton, apart);
  EXPECT_EQ(model.first_density(), apart.first_density);
  const auto document = calibration_to_json(skeleton, apart);
  EXPECT_EQ(document["calibration"]["first_readings"].dump(), "[40,40]");
  EXPECT_EQ(parse_continuous_model(dump_json(document), "m"), model);
  options.by_action = false;
  const DensityCalibration shared = calibrate_densities(readings, skeleton.chain, options);
  EXPECT_FALSE(shared.first_density.has_value());
  EXPECT_EQ(shared.readings.at(Action{0}, State{0}).size(), 120U);
  EXPECT_TRUE(calibrated_model(skeleton, shared).first_is_common());
}

DensityCalibration calibrated(const Pomdp& chain) {
  LabelledReadings readings(2, 2, 1);
  readings.files = {"l"};
  readings.columns = {"observation"};
  readings.fields = {2};
  Rng rng({6, 0, Role::test});
  for (Action a{0}; a < 2; ++a) {
    for (State s{0}; s < 2; ++s) {
      for (int i = 0; i < 20; ++i) {
        readings.at(a, s).values.push_back(2.0 * static_cast<double>(s) + sample_normal(rng));
        readings.at(a, s).places.push_back({});
      }
    }
  }
  readings.tally.rows = 80;
  return calibrate_densities(readings, chain);
}

TEST(CalibratedDensities, ReadBackEqual) {
  RandomModelOptions two;
  two.num_states = two.num_actions = 2;
  const DensitySkeleton skeleton{random_model(two, 1), 1};
  for (const char* family : {"normal", "kernel", "mixture"}) {
    DensityCalibration found = calibrated(skeleton.chain);
    DensityCalibrationOptions options;
    options.family = family;
    found = calibrate_densities(found.readings, skeleton.chain, options);
    // pooled readings stand for one action
    std::vector<DensitySensors> draws;
    for (const DensitySensors& draw : found.draws) {
      std::vector<VectorDensity> twice;
      for (int a = 0; a < 2; ++a) {
        for (State s{0}; s < 2; ++s) twice.push_back(draw(Action{0}, s));
      }
      draws.emplace_back(2, 2, std::move(twice));
    }
    const ContinuousPomdp model(skeleton.chain, draws.front(), std::nullopt, {80.0, draws});
    const std::string text = dump_json(model_to_json(model));
    EXPECT_EQ(parse_continuous_model(text, "m"), model) << family;
    EXPECT_EQ(model.with_transition(model.chain().transition()), model);
    EXPECT_EQ(model.with_draw(3).sensors(), draws[3]);
    EXPECT_TRUE(model.with_draw(3).density_draws().draws.empty());
  }
}

TransitionEstimate two_state_estimate(double value, double error) {
  TransitionEstimate estimate;
  estimate.transition = TransitionModel(2, 1, {value, 1.0 - value, 0.5, 0.5});
  estimate.visits = {100.0, 100.0};
  estimate.standard_error.assign(4, error);
  for (const double v : {value, 1.0 - value, 0.5, 0.5}) {
    estimate.lower.push_back(std::max(0.0, v - 1.959964 * error));
    estimate.upper.push_back(std::min(1.0, v + 1.959964 * error));
  }
  return estimate;
}

TEST(DensityErrors, VariancesWithinAndBetweenAddUp) {
  std::vector<TransitionEstimate> drawn;
  Rng rng({6, 0, Role::test});
  constexpr int kDraws = 4000;
  for (int k = 0; k < kDraws; ++k) {
    drawn.push_back(two_state_estimate(0.4 + 0.04 * sample_normal(rng), 0.03));
  }
  TransitionEstimate estimate = two_state_estimate(0.4, 0.03);
  add_density_errors(drawn, estimate);
  EXPECT_NEAR(estimate.standard_error[0], 0.05, 0.002);
  EXPECT_NEAR(estimate.lower[0], 0.4 - 1.96 * 0.05, 0.005);
  EXPECT_NEAR(estimate.upper[0], 0.4 + 1.96 * 0.05, 0.005);
  EXPECT_NEAR(estimate.standard_error[2], 0.03, 1e-9);
  EXPECT_NEAR(estimate.upper[2], 0.5 + 1.96 * 0.03, 1e-4);
}

// With two draws Rubin's factor is 3/2.
TEST(DensityErrors, FewDrawsCountForLess) {
  TransitionEstimate estimate = two_state_estimate(0.4, 0.03);
  add_density_errors({two_state_estimate(0.3, 0.03), two_state_estimate(0.5, 0.03)}, estimate);
  EXPECT_NEAR(estimate.standard_error[0], std::sqrt(0.0009 + 1.5 * 0.02), 1e-12);
  EXPECT_THROW(add_density_errors({estimate}, estimate), InvalidArgument);
}

TEST(DensityErrors, RowsThatMostDensitiesLeaveOpenAreNotDetermined) {
  TransitionEstimate open = two_state_estimate(0.4, 0.03);
  for (const std::size_t e : {2, 3}) open.standard_error[e] = kNan;
  TransitionEstimate estimate = two_state_estimate(0.4, 0.03);
  estimate.status = EstimateStatus::ok;
  add_density_errors({open, open, two_state_estimate(0.4, 0.03)}, estimate);
  EXPECT_TRUE(std::isnan(estimate.standard_error[2]));
  EXPECT_EQ(estimate.upper[2], 1.0);
  EXPECT_EQ(estimate.status, EstimateStatus::flagged);
  ASSERT_EQ(estimate.flagged.size(), 1);
  EXPECT_EQ(estimate.flagged[0].state, State{1});
}

}  // namespace
}  // namespace oas::test
