// Known structure of T: what is fixed stays, what is equal stays equal, and within it the
// likelihood is largest.

#include "oas/estimation/transition_structure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/structured_likelihood.hpp"
#include "oas/estimation/structure_json.hpp"
#include "oas/estimation/transition_error.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

Pomdp structure_model(int states, int actions, Timing timing, std::uint64_t seed) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_actions = actions;
  options.timing = timing;
  options.concentration = 2.0;
  options.min_alpha = 0.2;
  options.named = true;
  return test::random_model(options, seed);
}

// T_0(0,·) = T_1(2,·), with the entry to state 2 fixed to 0.2; T_0(1,·) has a zero; T_1(0,·) is
// known.
TransitionStructure some_structure(const Pomdp& model) {
  TransitionKnowledge known(3, 2);
  known.tie(Action{0}, State{0}, Action{1}, State{2});
  known.fix(model, Action{1}, State{2}, State{2}, 0.2);
  known.fix(model, Action{0}, State{1}, State{0}, 0.0);
  for (State next{0}; next < 3; ++next) {
    known.fix(model, Action{1}, State{0}, next, next == 1 ? 0.5 : 0.25);
  }
  return {model, known};
}

TransitionModel obeying(const TransitionStructure& structure, const TransitionModel& transition) {
  return structure.expand(structure.reduce(transition));
}

class StructureTimings : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, StructureTimings, ::testing::Values(Timing::before, Timing::after));

TEST(TransitionStructure, ReducedModelsStandForAllThatObey) {
  const Pomdp model = structure_model(3, 2, Timing::before, 3);
  const TransitionStructure structure = some_structure(model);
  EXPECT_EQ(structure.num_free(), 1 + 1 + 2 + 2);
  const TransitionModel inside = obeying(structure, model.transition());
  EXPECT_EQ(inside(Action{0}, State{0}, State{2}), 0.2);
  EXPECT_EQ(inside(Action{0}, State{1}, State{0}), 0.0);
  EXPECT_EQ(inside(Action{1}, State{0}, State{1}), 0.5);
  for (State next{0}; next < 3; ++next) {
    EXPECT_EQ(inside(Action{0}, State{0}, next), inside(Action{1}, State{2}, next));
    // Rows of which nothing is known are as they were.
    EXPECT_DOUBLE_EQ(inside(Action{1}, State{1}, next),
                     model.transition()(Action{1}, State{1}, next));
  }
  const TransitionModel again = obeying(structure, inside);
  for (std::size_t i = 0; i < 18; ++i) {
    EXPECT_NEAR(again.values()[i], inside.values()[i], 1e-15);
  }
}

TEST_P(StructureTimings, ScoreAndInformationAreDerivativesWithinTheStructure) {
  const Pomdp model = structure_model(3, 2, GetParam(), 3);
  const TransitionStructure structure = some_structure(model);
  TransitionLikelihood rows(model);
  for (std::uint64_t run = 0; run < 3; ++run) {
    const Trajectory log = test::play_uniformly(model, 500, 0.1, run);
    rows.start_run();
    rows.append(log.actions, log.observations);
  }
  const LikelihoodFunction likelihood =
      reduced_likelihood(structure, likelihood_rows(rows, {1}).likelihood);
  const TransitionModel at = structure.reduce(model.transition());
  const LikelihoodPass pass = likelihood(at, {});
  // Pairs of free entries of one row of the reduced model, as FreeCoordinates chooses them.
  const auto moved = [&](const std::vector<std::pair<std::size_t, double>>& changes) {
    std::vector<double> values(at.values().begin(), at.values().end());
    for (const auto& [entry, change] : changes) values[entry] += change;
    return rows.pass(structure.expand(TransitionModel(3, 2, values)), {}, {1}).log_likelihood;
  };
  std::vector<std::pair<std::size_t, std::size_t>> free;  // entry, largest entry of its row
  for (std::size_t first = 0; first < 18; first += 3) {
    std::size_t largest = first;
    for (std::size_t i = first; i < first + 3; ++i) {
      if (at.values()[i] > at.values()[largest]) largest = i;
    }
    for (std::size_t i = first; i < first + 3; ++i) {
      if (i != largest && at.values()[i] > 0.0) free.emplace_back(i, largest);
    }
  }
  ASSERT_EQ(static_cast<int>(free.size()), structure.num_free());
  const ObservedInformation information = observed_information(likelihood, at, pass);
  constexpr double h = 1e-4;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const auto [e, r] = free[i];
    const double slope = (moved({{e, h}, {r, -h}}) - moved({{e, -h}, {r, h}})) / (2.0 * h);
    EXPECT_NEAR(pass.score[e] - pass.score[r], slope, 1e-3 * (1.0 + std::abs(slope)));
    for (std::size_t j = 0; j < free.size(); ++j) {
      const auto [f, q] = free[j];
      const auto corner = [&](double x, double y) {
        return moved({{e, x}, {r, -x}, {f, y}, {q, -y}});
      };
      const double curve =
          (corner(h, h) - corner(h, -h) - corner(-h, h) + corner(-h, -h)) / (4.0 * h * h);
      const auto row = static_cast<Eigen::Index>(i);
      const auto column = static_cast<Eigen::Index>(j);
      EXPECT_NEAR(
          information.matrix(row, column), -curve,
          0.02 * std::sqrt(information.matrix(row, row) * information.matrix(column, column)));
    }
  }
}

// Two free numbers, found by trying them all on sums over all state paths.
TEST_P(StructureTimings, TheMaximumIsThatOfBruteForce) {
  const Pomdp model = structure_model(3, 1, GetParam(), 11);
  TransitionKnowledge known(3, 1);
  known.tie(Action{0}, State{0}, Action{0}, State{1});
  known.fix(model, Action{0}, State{0}, State{2}, 0.3);
  known.fix(model, Action{0}, State{2}, State{0}, 0.0);
  const TransitionStructure structure(model, known);
  ASSERT_EQ(structure.num_free(), 2);
  const auto with = [&](double x, double y) {
    return TransitionModel(
        3, 1, {0.7 * x, 0.7 * (1 - x), 0.3, 0.7 * x, 0.7 * (1 - x), 0.3, 0.0, y, 1 - y});
  };
  std::vector<Trajectory> logs;
  TransitionLikelihood rows(model);
  for (std::uint64_t run = 0; run < 12; ++run) {
    logs.push_back(test::play_uniformly(model.with_transition(with(0.4, 0.6)), 5, 0.0, run));
    rows.start_run();
    rows.append(logs.back().actions, logs.back().observations);
  }
  const auto log_likelihood = [&](double x, double y) {
    const Pomdp candidate = model.with_transition(with(x, y));
    double sum = 0.0;
    for (const Trajectory& log : logs) {
      sum += std::log(test::enumerate_paths(candidate, log.actions, log.observations).likelihood);
    }
    return sum;
  };
  double best = -1e300;
  double best_x = 0.5;
  double best_y = 0.5;
  for (double width = 0.5; width > 1e-4; width *= 0.3) {
    const double middle_x = best_x;
    const double middle_y = best_y;
    for (int i = -5; i <= 5; ++i) {
      for (int j = -5; j <= 5; ++j) {
        const double x = std::clamp(middle_x + 0.2 * i * width, 1e-9, 1.0 - 1e-9);
        const double y = std::clamp(middle_y + 0.2 * j * width, 1e-9, 1.0 - 1e-9);
        const double value = log_likelihood(x, y);
        if (value > best) std::tie(best, best_x, best_y) = std::tuple(value, x, y);
      }
    }
  }
  LikelihoodOptions options;
  options.tolerance = 1e-9;
  options.max_passes = 20'000;
  for (const bool accelerate : {true, false}) {
    options.accelerate = accelerate;
    const LikelihoodEstimate estimate = maximize_likelihood(
        likelihood_rows(rows, {1}).likelihood, TransitionModel::uniform(3, 1), structure, options);
    EXPECT_EQ(estimate.status, LikelihoodStatus::converged);
    EXPECT_NEAR(estimate.pass.log_likelihood, best, 1e-5);
    EXPECT_GE(estimate.pass.log_likelihood, estimate.start_log_likelihood);
    const TransitionModel expected = with(best_x, best_y);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(estimate.transition.values()[i], expected.values()[i], 3e-3);
    }
    EXPECT_EQ(estimate.transition(Action{0}, State{2}, State{0}), 0.0);
    EXPECT_DOUBLE_EQ(estimate.transition(Action{0}, State{1}, State{2}), 0.3);
  }
}

// Four actions that all do the same: knowing it is worth four times the data.
TEST_P(StructureTimings, EqualRowsShareTheirData) {
  const Pomdp random = structure_model(3, 4, GetParam(), 5);
  const TransitionStructure same(random, same_for_all_actions(3, 4));
  const Pomdp model = random.with_transition(obeying(same, random.transition()));
  LikelihoodEstimatorOptions plain;
  LikelihoodEstimatorOptions structured;
  structured.structure = same;
  double plain_square = 0.0;
  double structured_square = 0.0;
  double ratio = 0.0;
  constexpr int kLogs = 12;
  for (int log = 0; log < kLogs; ++log) {
    TransitionLikelihood rows(model);
    const Trajectory played = test::play_uniformly(model, 8000, 0.0, static_cast<unsigned>(log));
    rows.append(played.actions, played.observations);
    const auto estimate = [&](const LikelihoodEstimatorOptions& options) {
      return estimate_likelihood(likelihood_rows(rows, {1}),
                                 likelihood_starts(model, TransitionModel::uniform(3, 4)), model,
                                 options);
    };
    const TransitionEstimate free = estimate(plain);
    const TransitionEstimate tied = estimate(structured);
    EXPECT_TRUE(tied.warnings.empty()) << tied.warnings.front();
    plain_square += std::pow(transition_error(model.transition(), free.transition).frobenius, 2);
    structured_square +=
        std::pow(transition_error(model.transition(), tied.transition).frobenius, 2);
    for (std::size_t i = 0; i < 36; ++i) {
      EXPECT_EQ(tied.standard_error[i], tied.standard_error[i % 9]);
      ratio += free.standard_error[i] / tied.standard_error[i] / 36.0 / kLogs;
    }
  }
  EXPECT_NEAR(ratio, 2.0, 0.4);
  const double gain = plain_square / structured_square;
  EXPECT_GT(gain, 2.0);
  EXPECT_LT(gain, 8.0);
}

TEST_P(StructureTimings, FixedEntriesAreCertainAndTheRestHasErrorBars) {
  const Pomdp random = structure_model(3, 2, GetParam(), 3);
  const TransitionStructure structure = some_structure(random);
  const Pomdp model = random.with_transition(obeying(structure, random.transition()));
  TransitionLikelihood rows(model);
  const Trajectory log = test::play_uniformly(model, 20'000, 0.05, 1);
  rows.append(log.actions, log.observations);
  LikelihoodEstimatorOptions options;
  options.structure = structure;
  options.climb.prior = 0.5;  // of zeros nothing is imagined
  options.regions = true;
  const TransitionEstimate estimate =
      estimate_likelihood(likelihood_rows(rows, {1}),
                          likelihood_starts(model, TransitionModel::uniform(3, 2)), model, options);
  ASSERT_EQ(estimate.standard_error.size(), 18U);
  EXPECT_THAT(estimate.structure, HasSubstr("1 known zero, 5 other fixed entries, 1 row equal"));
  int held = 0;
  for (std::size_t i = 0; i < 18; ++i) {
    const double value = estimate.transition.values()[i];
    if (structure.is_free(i)) {
      EXPECT_GT(estimate.standard_error[i], 0.0);
      EXPECT_LE(estimate.joint_region.lower[i], estimate.row_region.lower[i]);
      EXPECT_LE(estimate.row_region.lower[i], estimate.lower[i]);
      EXPECT_LE(estimate.lower[i], value);
      EXPECT_GE(estimate.row_region.upper[i], estimate.upper[i]);
      EXPECT_GE(estimate.joint_region.upper[i], estimate.row_region.upper[i]);
      held += estimate.lower[i] <= model.transition().values()[i] &&
              model.transition().values()[i] <= estimate.upper[i];
    } else {
      EXPECT_EQ(estimate.standard_error[i], 0.0);
      EXPECT_EQ(estimate.lower[i], structure.fixed_value(i));
      EXPECT_EQ(estimate.upper[i], structure.fixed_value(i));
      EXPECT_EQ(estimate.joint_region.lower[i], structure.fixed_value(i));
      EXPECT_EQ(estimate.joint_region.upper[i], structure.fixed_value(i));
      EXPECT_EQ(value, structure.fixed_value(i));
    }
  }
  EXPECT_GE(held, 9);  // of 12
  for (std::size_t row = 0; row < 6; ++row) {
    double distance = 0.0;
    for (std::size_t i = 3 * row; i < 3 * row + 3; ++i) {
      distance += std::abs(estimate.transition.values()[i] - model.transition().values()[i]);
    }
    EXPECT_LE(distance, estimate.joint_region.l1[row]) << row;
  }
  double visits = 0.0;
  for (const double row : estimate.visits) visits += row;
  EXPECT_NEAR(visits, 20'000, 1.5);
}

std::string structure_message(const Pomdp& model, const std::string& text) {
  try {
    static_cast<void>(
        parse_structure(R"({"format":"oas-structure/1",)" + text + "}", "s.json", model));
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no exception";
}

TEST(StructureFile, IsReadInAllItsForms) {
  const Pomdp model = structure_model(2, 2, Timing::before, 1);
  const auto quoted = [](const std::string& name) {  // names of test models hold quotes
    std::string text;
    for (const char c : name) text += c == '"' ? std::string("\\\"") : std::string(1, c);
    return text;
  };
  const std::string a = quoted(model.actions()[1]);
  const std::string s = quoted(model.states()[0]);
  const TransitionKnowledge known = parse_structure(
      fmt::format(R"({{"format":"oas-structure/1","transition":[[[null,0.5],[null,null]],
        [[null,null],[0,null]]],"entries":[["{}",0,1,0.5]],"tied":[[["*","{}"]]]}})",
                  a, s),
      "s.json", model);
  const std::vector<std::optional<double>> expected = {
      std::nullopt, 0.5, std::nullopt, std::nullopt, std::nullopt, 0.5, 0.0, std::nullopt};
  EXPECT_EQ(known.fixed, expected);
  ASSERT_EQ(known.tied.size(), 2U);
  EXPECT_EQ(known.tied[1], (std::pair<std::size_t, std::size_t>(0, 2)));
}

TEST(StructureFile, FaultsAreNamed) {
  const Pomdp model = structure_model(2, 2, Timing::before, 1);
  const auto expect = [&](const std::string& text, const std::vector<std::string>& says) {
    for (const std::string& part : says) {
      EXPECT_THAT(structure_message(model, text), HasSubstr(part)) << text;
    }
  };
  expect(R"("colour":1)", {"s.json", "colour"});
  expect(R"("transition":[[[1.5,null],[null,null]],[[null,null],[null,null]]])",
         {"$.transition[0][0][0]", "1.5"});
  expect(R"("transition":[[[0.5,0.4],[null,null]],[[null,null],[null,null]]])",
         {"all entries of row", "0.9"});
  expect(R"("transition":[[[0.5,null],[null,null]]])", {"$.transition", "1 entries where 2"});
  expect(R"("transition":[[["x",null],[null,null]],[[null,null],[null,null]]])",
         {"$.transition[0][0][0]", "\"x\""});
  expect(R"("entries":[[0,0,0,0.5],[0,0,0,0.4]])", {"$.entries[1]", "0.5", "0.4"});
  expect(R"("entries":[[0,0,7,0.5]])", {"$.entries[0][2]", "7"});
  expect(R"("entries":[[0,"nowhere",0,0.5]])", {"$.entries[0][1]", "nowhere"});
  expect(R"("entries":[[0,0,0,0.7],[0,0,1,0.6]])", {"sum to 1.3", "more than 1"});
  expect(R"("tied":[[[0,0]]])", {"$.tied[0]", "at least two"});
  expect(R"("tied":[[[0,0],[1,0]]],"entries":[[0,0,0,0.7],[1,0,0,0.6]])",
         {"said to be equal", "0.7", "0.6"});
  expect(R"("entries":[["*","*",0,1]])", {"nothing to estimate"});
}

}  // namespace
}  // namespace oas
