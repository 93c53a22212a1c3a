#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/belief/filter.hpp"
#include "oas/belief/forecast.hpp"
#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/formats/pomdp_text.hpp"
#include "oas/formats/pomdpx.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/model/model_json.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/simulation/environment.hpp"
#include "oas/theory/communication.hpp"
#include "oas/theory/ergodicity.hpp"
#include "support/random_models.hpp"

/// A model whose dynamics are listed means the same as with a table, wherever both are served.
namespace oas::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TransitionModel as_list(const TransitionModel& table) {
  std::vector<ProbabilityEntry> entries;
  std::vector<std::size_t> row_starts{0};
  for (Action a{0}; a < table.num_actions(); ++a) {
    for (State s{0}; s < table.num_states(); ++s) {
      for (State next{0}; next < table.num_states(); ++next) {
        if (table(a, s, next) != 0.0) entries.push_back({next, table(a, s, next)});
      }
      row_starts.push_back(entries.size());
    }
  }
  return TransitionModel::listed(table.num_states(), table.num_actions(), entries, row_starts);
}

// Small, and large enough for sparse recursions; both timings, rewards that need T.
std::vector<Pomdp> sparse_models() {
  std::vector<Pomdp> models;
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const int states : {5, 70}) {
      RandomModelOptions options;
      options.num_states = states;
      options.timing = timing;
      options.zero_fraction = 0.8;
      options.reward =
          timing == Timing::after ? Reward::Kind::by_observation : Reward::Kind::by_transition;
      models.push_back(random_model(options, 11));
    }
  }
  return models;
}

TEST(ListedModel, HasTheSameEntries) {
  for (const Pomdp& model : sparse_models()) {
    const TransitionModel& table = model.transition();
    const TransitionModel list = as_list(table);
    const int n = table.num_states();
    EXPECT_TRUE(list.is_listed());
    EXPECT_EQ(list.num_entries(), table.num_entries());
    const Vector v = Vector::LinSpaced(n, -1.0, 2.0);
    Matrix columns(n, 2);
    columns << v, v.cwiseAbs2();
    for (Action a{0}; a < table.num_actions(); ++a) {
      EXPECT_LT((list.mean_next(a, v) - table.mean_next(a, v)).cwiseAbs().maxCoeff(), 1e-14);
      EXPECT_LT((list.mean_next(a, columns) - table.mean_next(a, columns)).cwiseAbs().maxCoeff(),
                1e-14);
      for (State s{0}; s < n; ++s) {
        std::vector<double> row(static_cast<std::size_t>(n));
        list.for_each_next(a, s,
                           [&](State next, double p) { row[static_cast<std::size_t>(next)] = p; });
        EXPECT_TRUE(std::equal(row.begin(), row.end(), table.row(a, s).begin()));
        for (State next{0}; next < n; ++next) EXPECT_EQ(list(a, s, next), table(a, s, next));
      }
    }
  }
}

TEST(ListedModel, SaysWhatNeedsATable) {
  const TransitionModel list = as_list(sparse_models()[0].transition());
  const auto message =
      ThrowsMessage<InvalidArgument>(HasSubstr("5 states and 2 actions is held as a list"));
  EXPECT_THAT([&] { (void)list.values(); }, message);
  EXPECT_THAT([&] { (void)list.matrix(Action{0}); }, message);
  EXPECT_THAT([&] { (void)list.row(Action{0}, State{0}); }, message);
}

// A file's list becomes a table where that is small enough, so this asks for the very table.
TEST(ListedModel, IsTheSameInJson) {
  for (const Pomdp& model : sparse_models()) {
    const Pomdp listed = model.with_transition(as_list(model.transition()));
    const Pomdp again = parse_model(dump_json(model_to_json(listed)), "m.json");
    EXPECT_EQ(again.transition(), model.transition());
    EXPECT_EQ(dump_json(model_to_json(again)), dump_json(model_to_json(model)));
  }
}

TEST(ListedModel, FaultsInJsonAreNamed) {
  const auto read = [](const std::string& list) {
    return [=] {
      (void)parse_model(R"({"format": "oas-model/1", "timing": "after", "states": 2, "actions": 1,
"observations": 1, "observation": [[[1], [1]]], "transition_list": )" +
                            list + "}",
                        "m.json");
    };
  };
  const auto says = [](const char* text) {
    return ThrowsMessage<InvalidArgument>(HasSubstr(text));
  };
  EXPECT_NO_THROW(read("[[[1, 1], [0, 0.5, 1, 0.5]]]")());
  EXPECT_THAT(read("[]"), says("$.transition_list: 0 entries where 1 are needed"));
  EXPECT_THAT(read("[[[1, 1]]]"), says("$.transition_list[0]: 1 entries where 2 are needed"));
  EXPECT_THAT(read("[[[1, 1], [0]]]"), says("$.transition_list[0][1]: 1 numbers"));
  EXPECT_THAT(read("[[[1, 1], [2, 1]]]"),
              says("$.transition_list[0][1][0]: expected an index from 0 to 1"));
  EXPECT_THAT(read("[[[1, 1], [0.5, 1]]]"), says("$.transition_list[0][1][0]"));
  EXPECT_THAT(read("[[[1, 1], [1, 0.5, 0, 0.5]]]"), says("[0][1]: entry 0 after entry 1"));
  EXPECT_THAT(read("[[[1, 1], [1, 0.5]]]"), says("[0][1] sums to 0.5"));
  EXPECT_THAT(read("[[[1, 1], [0, 0, 1, 1]]]"), says("listed entries are positive"));
  EXPECT_THAT(read(R"([[[1, 1], [1, 1]]], "transition": [[[0, 1], [0, 1]]])"), says("both"));
}

TEST(ListedModel, ForecastsAlike) {
  for (const Pomdp& model : sparse_models()) {
    const Pomdp listed = model.with_transition(as_list(model.transition()));
    ForecastQuestion question;
    question.steps = 12;
    question.schedule = {Action{1}, Action{0}};
    const Forecast table = Forecaster(model.transition(), question)(model.start());
    const Forecast list = Forecaster(listed.transition(), question)(model.start());
    ASSERT_EQ(list.states.size(), table.states.size());
    for (std::size_t i = 0; i < list.states.size(); ++i) {
      EXPECT_NEAR(list.states[i], table.states[i], 1e-14);
    }
  }
}

TEST(ListedModel, IsChecked) {
  const auto make = [](std::vector<ProbabilityEntry> entries, std::vector<std::size_t> starts) {
    return [=] { (void)TransitionModel::listed(2, 1, entries, starts); };
  };
  EXPECT_NO_THROW(make({{1, 1.0}, {0, 0.5}, {1, 0.5}}, {0, 1, 3})());
  EXPECT_THAT(make({{1, 1.0}}, {0, 1}), ThrowsMessage<InvalidArgument>(HasSubstr("2 row starts")));
  EXPECT_THAT(make({{0, 1.0}, {1, 0.5}, {0, 0.5}}, {0, 1, 3}),
              ThrowsMessage<InvalidArgument>(HasSubstr("[0][1]: entry 0 after entry 1")));
  EXPECT_THAT(make({{0, 1.0}, {2, 1.0}}, {0, 1, 2}),
              ThrowsMessage<InvalidArgument>(HasSubstr("entry 2 after entry -1 of 2 states")));
  EXPECT_THAT(make({{0, 1.0}, {0, 1.5}, {1, -0.5}}, {0, 1, 3}),
              ThrowsMessage<InvalidArgument>(HasSubstr("[0][1][1] is -0.5")));
  EXPECT_THAT(make({{0, 1.0}, {1, 0.5}}, {0, 1, 2}),
              ThrowsMessage<InvalidArgument>(HasSubstr("[0][1] sums to 0.5")));
  EXPECT_THAT(make({{0, 1.0}}, {0, 1, 1}), ThrowsMessage<InvalidArgument>(HasSubstr("sums to 0")));
}

TEST(ListedModel, FiltersAndSmoothsAlike) {
  for (const Pomdp& model : sparse_models()) {
    const Pomdp listed = model.with_transition(as_list(model.transition()));
    const Trajectory run = play_uniformly(model, 200, 0.1, 5);
    std::vector<std::vector<double>> rows;
    smooth(model, run.actions, run.observations,
           [&](std::size_t, auto belief, auto smoothed, double) {
             rows.emplace_back(belief.begin(), belief.end());
             rows.emplace_back(smoothed.begin(), smoothed.end());
           });
    std::size_t at = 0;
    smooth(listed, run.actions, run.observations,
           [&](std::size_t, auto belief, auto smoothed, double) {
             for (const auto found : {belief, smoothed}) {
               const auto& expected = rows[at++];
               for (std::size_t s = 0; s < found.size(); ++s) {
                 ASSERT_NEAR(found[s], expected[s], 1e-10);
               }
             }
           });
  }
}

TEST(ListedModel, HasTheSameRewardsGraphAndGain) {
  for (const Pomdp& model : sparse_models()) {
    const Pomdp listed = model.with_transition(as_list(model.transition()));
    EXPECT_LT((listed.expected_reward() - model.expected_reward()).cwiseAbs().maxCoeff(), 1e-12);
    const auto graph = analyse_communication(model.transition(), model.start());
    const auto same = analyse_communication(listed.transition(), model.start());
    EXPECT_EQ(same.class_of, graph.class_of);
    EXPECT_EQ(same.unreachable, graph.unreachable);
    EXPECT_EQ(same.period, graph.period);
    EXPECT_NEAR(fully_observed_gain(listed).gain, fully_observed_gain(model).gain, 1e-9);
    const ErgodicityReport full = analyse_ergodicity(model.transition());
    const ErgodicityReport part = analyse_ergodicity(listed.transition());
    EXPECT_FALSE(part.complete);
    EXPECT_EQ(part.min_transition, full.min_transition);
    for (std::size_t a = 0; a < full.action_coefficients.size(); ++a) {
      if (std::isnan(part.action_coefficients[a])) continue;
      EXPECT_EQ(full.action_coefficients[a], 1.0);
    }
    EXPECT_EQ(convert_timing(listed, Timing::after).reason,
              convert_timing(model, Timing::after).reason);
  }
}

// Frequencies of the listed environment against the table's row, 6 standard errors.
TEST(ListedModel, IsSimulatedByItsProbabilities) {
  const Pomdp model = sparse_models()[0];
  Environment environment(model.with_transition(as_list(model.transition())),
                          Rng({7, 0, Role::environment}));
  const int n = model.num_states();
  Matrix counts = Matrix::Zero(2 * n, n);
  for (int t = 0; t < 200'000; ++t) {
    const Action a{t % 2};
    const int row = a * n + environment.state();
    environment.step(a);
    counts(row, environment.state().value()) += 1.0;
  }
  for (int row = 0; row < 2 * n; ++row) {
    const double visits = counts.row(row).sum();
    for (int next = 0; next < n; ++next) {
      const double p = model.transition()(Action{row / n}, State{row % n}, State{next});
      EXPECT_LE(std::abs(counts(row, next) - visits * p),
                6.0 * std::sqrt(visits * p * (1.0 - p)) + 1e-9)
          << row << " " << next;
    }
  }
}

TEST(ListedModel, FilesAreReadAndWrittenAlike) {
  const Pomdp model = sparse_models()[3];
  const std::string text = pomdp_to_text(model).text;
  ModelReadOptions options;
  options.max_numbers = 5'000;  // enough for 2 × 70 sensors of 4 readings, too few for 2 × 70 × 70
  const Pomdp listed = parse_pomdp(text, "text", options).model;
  ASSERT_TRUE(listed.transition().is_listed());
  const TransitionModel table = parse_pomdp(text, "text").model.transition();
  EXPECT_EQ(listed.transition(), as_list(table));
  EXPECT_EQ(pomdp_to_text(listed).text, text);
  EXPECT_EQ(pomdpx_to_text(listed).text, pomdpx_to_text(model).text);
}

// The last assignment counts, also where it takes something back.
TEST(ListedModel, StatementsOverrideEachOther) {
  const std::string text =
      "discount: 1\nvalues: reward\nstates: 9\nactions: 2\nobservations: 1\n"
      "T: * identity\nT: 0 : 3 uniform\nT: 0 : 4 : 4 0\nT: 0 : 4 : 8 0.25\nT: 0 : 4 : 1 0.75\n"
      "T: 1 : 2 0 0 0 0 0 0.5 0.5 0 0\nT: 1 : 5 : * 0\nT: 1 : 5 : 0 1\n"
      "T: 0 : 3 : * 0.125\nT: 0 : 3 : 7 0\nO: * uniform\n";
  ModelReadOptions options;
  options.max_numbers = 100;
  const TransitionModel listed = parse_pomdp(text, "text", options).model.transition();
  ASSERT_TRUE(listed.is_listed());
  EXPECT_EQ(listed, as_list(parse_pomdp(text, "text").model.transition()));
  EXPECT_THAT([&] { (void)parse_pomdp(text + "T: 1 : 5 : 1 0.5\n", "text", options); },
              ThrowsMessage<ParseError>(HasSubstr("T of action 1, state 5 sums to 1.5, not to 1")));
}

}  // namespace
}  // namespace oas::test
