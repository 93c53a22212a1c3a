#include "oas/jobs/log_filter.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "oas/core/contracts.hpp"
#include "oas/model/density_sensors.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

class TextSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  void commit() override {}
  std::string text;
};

std::vector<std::vector<std::string>> cells_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    auto& cells = lines.emplace_back(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
  }
  return lines;
}

class FilterLog : public testing::Test {
 protected:
  FilteredLog filter(const AnyModel& model, const std::string& log,
                     const LogOptions& options = {}) {
    test::spill(path_, log);
    out_.text.clear();
    return filter_log(model, path_, out_, {}, options);
  }

  const test::TemporaryDirectory folder_;
  const std::string path_ = folder_.file("log.csv");
  TextSink out_;
};

PomdpParts two_states(std::vector<double> transition, std::vector<double> sensors) {
  PomdpParts parts;
  parts.states = Labels({"low", "high"}, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels({"quiet", "loud"}, "observation");
  parts.start = {0.5, 0.5};
  parts.transition = TransitionModel(2, 1, std::move(transition));
  parts.sensors = ObservationModel(2, 1, 2, std::move(sensors));
  return parts;
}

// Beliefs and smoothed states of short runs are sums over all paths of hidden states.
TEST_F(FilterLog, IsTheSumOverAllPaths) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = test::random_model({.timing = timing, .named = false}, 21);
    const Trajectory rows = test::play_uniformly(model, 7, 0.2, 9);
    std::string log = "action,observation\n";
    for (std::size_t t = 0; t < rows.size(); ++t) {
      log += fmt::format(
          "{},{}\n", rows.actions[t].value(),
          rows.observations[t] == kMissing ? "" : fmt::format("{}", rows.observations[t].value()));
    }
    const FilteredLog totals = filter(model, log);
    const auto lines = cells_of(out_.text);
    ASSERT_EQ(lines.size(), rows.size() + 2);
    const std::span<const Action> actions = rows.actions;
    const std::span<const Observation> seen = rows.observations;
    const test::PathPosterior all = test::enumerate_paths(model, actions, seen);
    for (std::size_t t = 0; t <= rows.size(); ++t) {
      const auto before = test::enumerate_paths(model, actions.first(t), seen.first(t));
      Eigen::Index likeliest = 0;
      all.states.row(static_cast<Eigen::Index>(t)).maxCoeff(&likeliest);
      EXPECT_EQ(lines[t + 1][1], std::to_string(t));
      for (int s = 0; s < 3; ++s) {
        const auto row = static_cast<Eigen::Index>(t);
        EXPECT_NEAR(std::stod(lines[t + 1][4 + s]), before.states(row, s), 1e-5) << t;
        EXPECT_NEAR(std::stod(lines[t + 1][7 + s]), all.states(row, s), 1e-5) << t;
      }
      EXPECT_EQ(lines[t + 1][10], std::to_string(likeliest));
    }
    for (int s = 0; s < 3; ++s) {
      EXPECT_NEAR(totals.last_belief[static_cast<std::size_t>(s)], all.states(7, s), 1e-12);
    }
    EXPECT_NEAR(totals.log_likelihood, std::log(all.likelihood), 1e-12);
    EXPECT_EQ(totals.rows, 7);
    EXPECT_EQ(totals.runs, 1);
    EXPECT_EQ(totals.impossible, 0);
    EXPECT_EQ(totals.seen,
              std::ranges::count_if(seen, [](Observation o) { return o != kMissing; }));
    EXPECT_NEAR(totals.log_likelihood_per_observation(),
                totals.log_likelihood / static_cast<double>(totals.seen), 1e-15);
  }
}

// Perfect sensors and a chain that alternates: every number is known. Runs start anew.
TEST_F(FilterLog, WritesWhatADeterministicModelSays) {
  const Pomdp model(two_states({0, 1, 1, 0}, {1, 0, 0, 1}));
  const FilteredLog totals =
      filter(model, "run,action,observation\n0,0,quiet\n0,0,loud\n1,0,loud\n");
  EXPECT_EQ(out_.text,
            "run,step,action,observation,belief_low,belief_high,smoothed_low,smoothed_high,"
            "likeliest\n"
            "0,0,0,quiet,0.5,0.5,1,0,low\n"
            "0,1,0,loud,0,1,0,1,high\n"
            "0,2,,,1,0,1,0,low\n"
            "1,0,0,loud,0.5,0.5,0,1,high\n"
            "1,1,,,1,0,1,0,low\n");
  EXPECT_EQ(totals.runs, 2);
  EXPECT_EQ(totals.rows, 3);
  EXPECT_NEAR(totals.log_likelihood, 2.0 * std::log(0.5), 1e-15);
  EXPECT_THAT(totals.last_belief, ElementsAre(1.0, 0.0));
}

// A log without names holds one unit, whose parts keep its number as they keep a name.
TEST_F(FilterLog, AUnitWithoutNameKeepsItsNumberAtGaps) {
  const Pomdp model(two_states({0, 1, 1, 0}, {1, 0, 0, 1}));
  LogOptions options;
  options.step = "1";
  options.gaps = "new-run";
  const FilteredLog totals =
      filter(model, "time,action,observation\n4,0,quiet\n5,0,loud\n9,0,loud\n", options);
  EXPECT_EQ(totals.runs, 2);
  EXPECT_THAT(out_.text, HasSubstr("\n0,2,,,1,0,1,0,low\n0,5,0,loud,0.5,0.5,0,1,high\n"));
}

// In an absorbing chain the belief in the absorbing state never falls where sensors are blind; an
// observation that cannot be is counted and skipped.
TEST_F(FilterLog, AbsorbingStatesAndImpossibleObservations) {
  const Pomdp absorbing(two_states({0.5, 0.5, 0, 1}, {1, 0, 1, 0}));
  const FilteredLog totals = filter(absorbing, "action,observation\n0,quiet\n0,loud\n0,quiet\n");
  EXPECT_EQ(totals.seen, 2);
  EXPECT_EQ(totals.impossible, 1);
  EXPECT_EQ(totals.log_likelihood, 0.0);
  EXPECT_THAT(totals.last_belief, ElementsAre(0.0625, 0.9375));
}

TEST_F(FilterLog, OneState) {
  const Pomdp one = test::random_model({.num_states = 1, .num_actions = 1}, 2);
  const FilteredLog totals = filter(one, "action,observation\n0,1\n0,\n");
  EXPECT_THAT(totals.last_belief, ElementsAre(1.0));
  EXPECT_NEAR(totals.log_likelihood, std::log(one.sensors()(Action{0}, State{0}, Observation{1})),
              1e-15);
}

// Two components: their cells stand in the file, and the posterior is Bayes' rule.
TEST_F(FilterLog, ReadingsOfTwoComponents) {
  std::vector<VectorDensity> densities;
  for (const double mean : {0.0, 2.0}) {
    densities.emplace_back(
        VectorDensity({Density::gaussian(mean, 1.0), Density::gaussian(-mean, 1.0)}));
  }
  const ContinuousPomdp model(Pomdp(two_states({1, 0, 0, 1}, {1, 0, 0, 1})),
                              DensitySensors(2, 1, std::move(densities)));
  const FilteredLog totals = filter(model, "action,observation_1,observation_2\n0,1.5,-0.25\n");
  EXPECT_THAT(out_.text, StartsWith("run,step,action,observation_1,observation_2,belief_low,"));
  EXPECT_THAT(out_.text, HasSubstr("\n0,0,0,1.5,-0.25,0.5,0.5,"));
  // log p(high)/p(low) = 2·(1.5 - 1) + 2·(0.25 - 1) = -0.5.
  EXPECT_NEAR(totals.last_belief[0], 1.0 / (1.0 + std::exp(-0.5)), 1e-12);
}

TEST_F(FilterLog, RefusesModelsWithoutTransitionAndRowsThatDoNotExist) {
  const Pomdp model(two_states({1, 0, 0, 1}, {1, 0, 0, 1}));
  EXPECT_THAT([&] { filter(model.without_transition(), "action,observation\n0,quiet\n"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("transition")));
  EXPECT_THAT(out_.text, IsEmpty());
  EXPECT_THAT([&] { filter(model, "action,observation\n0,quiet\n0,silent\n"); },
              ThrowsMessage<ParseError>(HasSubstr("silent")));
  EXPECT_THROW(static_cast<void>(filter_log(model, folder_.file("none.csv"), out_)),
               InvalidArgument);
}

}  // namespace
}  // namespace oas
