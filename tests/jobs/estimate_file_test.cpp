#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "oas/core/json_text.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_simulation.hpp"
#include "oas/model/density_sensors.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

/// An estimate read from its file is the estimate that was written, field by field, for every
/// estimator of the table.
namespace oas {
namespace {

// NaN is NaN.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return same(x, y); });
}

void expect_same(const ConfidenceRegion& read, const ConfidenceRegion& written) {
  const auto& [factor, lower, upper, l1] = written;  // a new field does not compile
  EXPECT_TRUE(same(read.factor, factor));
  EXPECT_TRUE(same(read.lower, lower));
  EXPECT_TRUE(same(read.upper, upper));
  EXPECT_TRUE(same(read.l1, l1));
}

void expect_same(const TransitionEstimate& read, const TransitionEstimate& written) {
  const auto& [estimator, status, transition, confidence, standard_error, lower, upper, row_region,
               joint_region, error_bars, resamples, num_batches, draws, pairs, alpha, visits,
               clipped, flagged, warnings, rows, runs, missing, log_likelihood, fit_p_value,
               effective_rows, unknown_start, sensors, labelled_rows, reward, reward_standard_error,
               reward_draws, sensor_draws, structure, passes] =
      written;  // a new field does not compile
  EXPECT_EQ(read.estimator, estimator);
  EXPECT_EQ(read.status, status);
  EXPECT_EQ(read.transition, transition);
  EXPECT_EQ(read.confidence, confidence);
  EXPECT_TRUE(same(read.standard_error, standard_error));
  EXPECT_TRUE(same(read.lower, lower));
  EXPECT_TRUE(same(read.upper, upper));
  expect_same(read.row_region, row_region);
  expect_same(read.joint_region, joint_region);
  EXPECT_EQ(read.error_bars, error_bars);
  EXPECT_EQ(read.resamples, resamples);
  EXPECT_EQ(read.num_batches, num_batches);
  EXPECT_EQ(read.draws, draws);
  EXPECT_EQ(read.pairs, pairs);
  EXPECT_TRUE(same(read.alpha, alpha));
  EXPECT_TRUE(same(read.visits, visits));
  EXPECT_TRUE(same(read.clipped, clipped));
  ASSERT_EQ(read.flagged.size(), flagged.size());
  for (std::size_t i = 0; i < flagged.size(); ++i) {
    EXPECT_EQ(read.flagged[i].action, flagged[i].action);
    EXPECT_EQ(read.flagged[i].state, flagged[i].state);
    EXPECT_EQ(read.flagged[i].reason, flagged[i].reason);
    EXPECT_EQ(read.flagged[i].settled, flagged[i].settled);
  }
  EXPECT_EQ(read.warnings, warnings);
  EXPECT_EQ(read.rows, rows);
  EXPECT_EQ(read.runs, runs);
  EXPECT_EQ(read.missing, missing);
  EXPECT_EQ(read.log_likelihood, log_likelihood);
  EXPECT_EQ(read.fit_p_value, fit_p_value);
  EXPECT_EQ(read.effective_rows, effective_rows);
  EXPECT_EQ(read.unknown_start, unknown_start);
  EXPECT_EQ(read.sensors, sensors);
  EXPECT_EQ(read.labelled_rows, labelled_rows);
  EXPECT_TRUE(same(read.reward, reward));
  EXPECT_TRUE(same(read.reward_standard_error, reward_standard_error));
  EXPECT_TRUE(same(read.reward_draws, reward_draws));
  EXPECT_TRUE(same(read.sensor_draws, sensor_draws));
  EXPECT_EQ(read.structure, structure);
  EXPECT_EQ(read.passes, passes);
}

// Empties the observation (run,action,observation,…) of every 100th row; names may hold commas.
void lose_readings(const std::string& path) {
  std::istringstream in(test::slurp(path));
  std::string text;
  std::string line;
  for (int number = 0; std::getline(in, line); ++number) {
    if (number > 2 && number % 100 == 0) {
      const std::size_t first = line.find(',', line.find(',') + 1) + 1;
      line.erase(first, line.find(',', first) - first);
    }
    text += line + "\n";
  }
  test::spill(path, text);
}

class EstimateFile : public testing::Test {
 protected:
  // Estimates, writes, reads, compares; returns what was written.
  TransitionEstimate round_trip(const AnyModel& model, std::string_view estimator,
                                const std::vector<Setting>& settings = {}) {
    SCOPED_TRACE(estimator);
    LogSimulationOptions play;
    play.policy = PolicyOptions{.name = "uniform"};
    play.runs = 3;
    play.steps = 700;
    simulate_log(model, play, log_);
    if (!chain_of(model).actions().has_names()) lose_readings(log_);
    const Estimation how = estimation_from(std::string(estimator), model, settings);
    TransitionEstimate written = estimate_from_logs(model, std::vector{log_}, how);
    if (chain_of(model).reward().kind() == Reward::Kind::none) {
      written.reward.assign(written.visits.size(), 2.5);
      written.reward_standard_error.assign(written.visits.size(), std::nan(""));
      written.reward_standard_error.front() = 0.25;
      const auto states = static_cast<std::size_t>(chain_of(model).num_states());
      for (std::size_t i = 0; i < written.draws.size() / states; ++i) {
        written.reward_draws.push_back(0.1 * static_cast<double>(i));
      }
    }
    std::visit([&](const auto& any) { write_estimate(path_, any, written); }, model);
    const EstimateDocument read = read_estimate(path_);
    EXPECT_TRUE(read.estimate.has_value());
    if (read.estimate) expect_same(*read.estimate, written);
    EXPECT_EQ(read.model.transition(), written.transition);
    // And what was read can be written again, the same bytes.
    if (const auto* finite = std::get_if<Pomdp>(&model); finite != nullptr && !HasFailure()) {
      EXPECT_EQ(dump_json(estimate_to_json(*finite, *read.estimate)), test::slurp(path_));
    }
    return written;
  }

  const test::TemporaryDirectory folder_;
  const std::string log_ = folder_.file("log.csv");
  const std::string path_ = folder_.file("estimate.json");
};

Pomdp finite(Timing timing) {
  return test::random_model({.num_states = 2,
                             .num_observations = 3,
                             .timing = timing,
                             .concentration = 2.0,
                             .min_alpha = 0.3,
                             .reward = Reward::Kind::by_action_state,
                             .named = timing == Timing::after},
                            11);
}

ContinuousPomdp real_valued() {
  std::vector<VectorDensity> densities;
  for (const double mean : {0.0, 2.0, 2.5, 0.0}) {
    densities.emplace_back(VectorDensity({Density::gaussian(mean, 1.0)}));
  }
  return ContinuousPomdp(finite(Timing::before), DensitySensors(2, 2, std::move(densities)));
}

TEST_F(EstimateFile, OfEveryEstimator) {
  int with_error_bars = 0;
  for (const EstimatorInfo& info : estimators()) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      const TransitionEstimate estimate = round_trip(finite(timing), info.name);
      with_error_bars += !estimate.standard_error.empty();
      EXPECT_EQ(estimate.missing, timing == Timing::before ? 21 : 0);
    }
    if (info.readings != Readings::cells_in_memory) round_trip(real_valued(), info.name);
  }
  EXPECT_GE(with_error_bars, 12);
}

TEST_F(EstimateFile, WithAllThatCanBeAskedFor) {
  const Pomdp model = finite(Timing::before);
  for (const EstimatorInfo& info : estimators()) {
    if (info.bootstraps) {
      const std::vector<Setting> bootstrap = {
          {"error_bars", "block-bootstrap"}, {"resamples", "20"}, {"confidence", "0.8"}};
      EXPECT_EQ(round_trip(model, info.name, bootstrap).resamples, 20);
    }
    if (info.forgets) {
      EXPECT_TRUE(round_trip(model, info.name, {{"half_life", "400"}, {"age", "run"}})
                      .effective_rows.has_value());
    }
    if (info.climbs) {
      EXPECT_NE(round_trip(model, info.name, {{"structure", "same-for-all-actions"}}).structure,
                "");
    }
  }
}

// Sensors that come from counted rows are part of the estimate.
TEST_F(EstimateFile, WithUncertainSensors) {
  PomdpParts parts = finite(Timing::before).parts();
  std::vector<double> counts;
  for (const double p : parts.sensors.values()) counts.push_back(std::round(400.0 * p));
  parts.observation_counts = ObservationCounts(2, 2, 3, std::move(counts));
  const TransitionEstimate estimate = round_trip(Pomdp(std::move(parts)), "oas-ml");
  EXPECT_TRUE(estimate.sensors.has_value());
  EXPECT_TRUE(estimate.labelled_rows.has_value());
}

// A state that is never reached leaves flags, warnings and unknown numbers.
TEST_F(EstimateFile, WithRowsThatNothingDetermines) {
  PomdpParts parts = finite(Timing::after).parts();
  parts.start = {1.0, 0.0};
  parts.transition = TransitionModel(2, 2, {1, 0, 0, 1, 1, 0, 0, 1});
  const Pomdp stays{std::move(parts)};
  for (const EstimatorInfo& info : estimators()) {
    const TransitionEstimate estimate = round_trip(stays, info.name);
    if (info.name == "oas-overlap" || info.climbs) {
      EXPECT_EQ(estimate.status, EstimateStatus::flagged) << info.name;
      EXPECT_FALSE(estimate.flagged.empty()) << info.name;
    }
  }
}

// Rewards that were learned, with draws where the estimator draws: of either kind of sensors.
TEST_F(EstimateFile, WithLearnedRewards) {
  PomdpParts parts = finite(Timing::before).parts();
  parts.reward = Reward();
  const Pomdp model(std::move(parts));
  EXPECT_TRUE(round_trip(model, "oas-overlap").reward_draws.empty());
  const TransitionEstimate likeliest = round_trip(model, "oas-ml");
  EXPECT_FALSE(likeliest.draws.empty());
  EXPECT_EQ(likeliest.reward_draws.size() * 2, likeliest.draws.size());
  const TransitionEstimate drawn = round_trip(model, "gibbs");
  ASSERT_EQ(drawn.reward_draws.size() * 2, drawn.draws.size());
  round_trip(ContinuousPomdp(model, real_valued().sensors()), "gibbs");
  const std::vector<Pomdp> models = drawn_models(model, drawn);
  ASSERT_EQ(models.size(), drawn_transitions(drawn).size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    EXPECT_EQ(models[i].transition(), drawn_transitions(drawn)[i]);
    EXPECT_EQ(models[i].reward().values()[3], drawn.reward_draws[4 * i + 3]);
  }
  nlohmann::ordered_json json = parse_json(test::slurp(path_), path_);
  json["estimate"]["reward_draws"].erase(0);
  EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "cut.json")); },
              testing::ThrowsMessage<ParseError>(testing::HasSubstr("$.estimate.reward_draws")));
}

// As many as can be asked for, and no more: whatever is made of them takes time with each.
TEST_F(EstimateFile, WithTooManyDraws) {
  const Pomdp model = finite(Timing::before);
  round_trip(model, "gibbs");
  nlohmann::ordered_json json = parse_json(test::slurp(path_), path_);
  auto& draws = json["estimate"]["draws"];
  const nlohmann::ordered_json one = draws[0];
  draws = nlohmann::ordered_json::array();
  for (int i = 0; i < 10'000; ++i) draws.push_back(one);
  json["estimate"].erase("reward_draws");
  EXPECT_EQ(drawn_transitions(*parse_estimate(json.dump(), "many.json").estimate).size(), 10'000);
  draws.push_back(one);
  EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "many.json")); },
              testing::ThrowsMessage<ParseError>(testing::AllOf(
                  testing::HasSubstr("many.json"), testing::HasSubstr("$.estimate.draws"),
                  testing::HasSubstr("10001"), testing::HasSubstr("between 0 and 10000"))));
}

// Of a finite model that was made of uncertain densities: a block of draws for each.
TEST_F(EstimateFile, WithDrawsOfSensors) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = finite(timing);
    TransitionEstimate drawn = round_trip(model, "gibbs");
    const std::vector<Pomdp> as_known = drawn_models(model, drawn);
    const auto values = model.sensors().values();
    drawn.sensor_draws.assign(values.begin(), values.end());
    const auto width = static_cast<std::size_t>(model.num_observations());
    for (std::size_t i = 0; i < values.size(); ++i) {  // rows turned by one
      drawn.sensor_draws.push_back(values[i / width * width + (i + 1) % width]);
    }
    write_estimate(path_, model, drawn);
    const EstimateDocument read = read_estimate(path_);
    expect_same(*read.estimate, drawn);
    const std::vector<Pomdp> models = drawn_models(model, *read.estimate);
    ASSERT_EQ(models.size(), as_known.size());
    for (std::size_t i = 0; i < models.size(); ++i) {
      EXPECT_EQ(models[i].transition(), as_known[i].transition());
      const bool second = 2 * i >= models.size();
      EXPECT_EQ(models[i].sensors() == model.sensors(), !second) << i;
      EXPECT_EQ(models[i].sensors()(Action{0}, State{0}, Observation{0}),
                second ? values[1] : values[0]);
    }
    nlohmann::ordered_json json = parse_json(test::slurp(path_), path_);
    json["estimate"]["draws"].erase(0);
    EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "cut.json")); },
                testing::ThrowsMessage<ParseError>(testing::HasSubstr("$.estimate.sensor_draws")));
    json = parse_json(test::slurp(path_), path_);
    json["estimate"]["sensor_draws"][1][0][0][0] = 7.0;
    EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "bad.json")); },
                testing::ThrowsMessage<ParseError>(testing::HasSubstr("sensor_draws[1]")));
  }
}

// What older versions did not write is as in a fresh estimate; what is wrong is named.
TEST_F(EstimateFile, OlderFilesAreRead) {
  round_trip(finite(Timing::before), "oas-ml");
  nlohmann::ordered_json json = parse_json(test::slurp(path_), path_);
  nlohmann::ordered_json& about = json["estimate"];
  for (const char* key : {"status", "rows", "runs", "missing_observations", "passes", "alpha",
                          "pairs", "visits", "clipped_share", "determined", "flagged_rows",
                          "warnings", "error_bars", "simultaneous", "fit_p_value"}) {
    about.erase(key);
  }
  const EstimateDocument old = parse_estimate(json.dump(), "old.json");
  ASSERT_TRUE(old.estimate.has_value());
  EXPECT_EQ(old.estimate->status, EstimateStatus::not_run);
  EXPECT_EQ(old.estimate->error_bars, "asymptotic");
  EXPECT_TRUE(old.estimate->visits.empty());
  EXPECT_TRUE(old.has_intervals());
  EXPECT_FALSE(estimate_to_json(old.model, *old.estimate)["estimate"].contains("visits"));
  about["visits"] = {{1.0, 2.0}, {3.0}};
  EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "old.json")); },
              testing::ThrowsMessage<ParseError>(testing::HasSubstr("$.estimate.visits[1]")));
  about.erase("visits");
  about["flagged_rows"] = {{{"action", "jump"}, {"state", "0"}, {"reason", "none"}}};
  EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "old.json")); },
              testing::ThrowsMessage<ParseError>(testing::HasSubstr("jump")));
}

// Pages and forecasts would show what is none.
TEST_F(EstimateFile, IntervalsThatAreNoneAreRefused) {
  round_trip(finite(Timing::before), "oas-ml");
  const nlohmann::ordered_json sound = parse_json(test::slurp(path_), path_);
  const auto refused = [](const nlohmann::ordered_json& json, const char* where) {
    EXPECT_THAT([&] { static_cast<void>(parse_estimate(json.dump(), "bad.json")); },
                testing::ThrowsMessage<ParseError>(testing::HasSubstr(where)));
  };
  for (const char* key : {"lower", "upper"}) {
    nlohmann::ordered_json json = sound;
    json["estimate"][key][0][0][0] = nullptr;
    refused(json, "$.estimate.lower");
    for (const char* region : {"row", "all"}) {
      json = sound;
      json["estimate"]["simultaneous"][region][key][0][0][0] = nullptr;
      refused(json, "$.estimate.simultaneous");
    }
  }
  nlohmann::ordered_json json = sound;
  json["estimate"]["lower"][0][0][0] = 2.0;
  refused(json, "$.estimate.lower");
  json["estimate"]["lower"][0][0][0] = nullptr;
  json["estimate"]["upper"][0][0][0] = nullptr;  // unknown, as of a flagged row
  EXPECT_TRUE(parse_estimate(json.dump(), "good.json").estimate.has_value());
  json = sound;
  json["estimate"]["standard_error"][0][0][0] = -0.1;
  refused(json, "$.estimate.standard_error");
  for (const double confidence : {0.0, 1.0, -0.5, 95.0}) {
    json = sound;
    json["estimate"]["confidence"] = confidence;
    refused(json, "$.estimate.confidence");
  }
}

}  // namespace
}  // namespace oas
