// Maxima on the boundary of the set of transition models: exact answers with perfect sensors, flags
// of rows that are determined and of rows that are not, coverage of entries that are 0 or 1, and
// every corner model with logs of any length.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/problems/corner_models.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

TransitionEstimate learn(const Pomdp& model, const std::string& estimator, std::size_t steps,
                         std::uint64_t seed) {
  ClosedLoop loop(model, {.name = "uniform"}, seed);
  Trajectory log;
  loop.advance(steps, log);
  EvidenceOptions options;
  options.actions_ignore_observations = true;
  options.stream = {seed, 0, Role::bootstrap};
  Evidence evidence = make_evidence(estimator, model, options);
  evidence.add(log);
  return evidence.estimate();
}

std::size_t row_of(const FlaggedRow& row, const Pomdp& model) {
  return static_cast<std::size_t>(row.action * model.num_states() + row.state);
}

// 961 visits with nothing hidden: binomial errors, and the rule of three at a zero.
TEST(Boundary, PerfectSensorsGiveTheErrorsOfCounts) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  for (const char* estimator : {"oas-ml", "oas-overlap"}) {
    const TransitionEstimate learned = learn(model, estimator, 5000, 3);
    const auto n = static_cast<std::size_t>(model.num_states());
    for (std::size_t i = 0; i < learned.lower.size(); ++i) {
      const double visits = learned.visits[i / n];
      const double value = learned.transition.values()[i];
      if (visits < 20.0) continue;
      const double width = learned.upper[i] - learned.lower[i];
      if (value < 1e-6 || value > 1.0 - 1e-6) {
        EXPECT_NEAR(width * visits, 3.0, 0.5) << estimator << ' ' << i;
        continue;
      }
      const double exact = std::sqrt(value * (1.0 - value) / visits);
      EXPECT_GT(learned.standard_error[i], 0.97 * exact) << estimator << ' ' << i;
      // Moments know their errors from batches: to 15 %, at five standard deviations 75 %.
      const double most = std::string(estimator) == "oas-ml" ? 1.05 : 1.75;
      EXPECT_LT(learned.standard_error[i], most * exact) << estimator << ' ' << i;
    }
  }
}

// Dynamics in which all or most entries are at their bounds: every row is known, and says so.
TEST(Boundary, DeterministicAndPeriodicChainsAreDetermined) {
  for (const char* name : {"corner/flip", "corner/cycle-3", "corner/ring-4", "corner/ring-4-noisy",
                           "corner/birth-death-6", "corner/perfect-cycle", "corner/bipartite"}) {
    const Pomdp model = make_problem(name);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const TransitionEstimate learned = learn(model, "oas-ml", 3000, seed);
      EXPECT_TRUE(learned.flagged.empty()) << name << ' ' << learned.flagged.size();
      const auto truth = model.transition().values();
      for (std::size_t i = 0; i < truth.size(); ++i) {
        EXPECT_LT(learned.upper[i] - learned.lower[i], 0.5) << name << ' ' << i;
        EXPECT_TRUE(truth[i] > 0.0 || learned.lower[i] < 0.05) << name << ' ' << i;
      }
    }
  }
}

TEST(Boundary, StatesThatCanBeSwappedAreNotDetermined) {
  for (const char* name : {"corner/twins", "corner/blind"}) {
    const Pomdp model = make_problem(name);
    const TransitionEstimate learned = learn(model, "oas-ml", 3000, 1);
    EXPECT_EQ(learned.flagged.size(), learned.visits.size()) << name;
    EXPECT_THAT(learned.flagged[0].reason, HasSubstr("can be swapped"));
    EXPECT_EQ(*std::min_element(learned.upper.begin(), learned.upper.end()), 1.0);
  }
}

// Forty logs of 400 rows of each kind of chain. With S² entries a log of which about half are
// independent, a true coverage of 0.95 gives less than 0.88 with probability below 1e-6.
TEST(Boundary, IntervalsHoldEntriesAtTheirBounds) {
  for (const char* name : {"corner/ring-4-noisy", "corner/near-deterministic",
                           "corner/perfect-sparse", "corner/birth-death-6"}) {
    const Pomdp model = make_problem(name);
    const auto truth = model.transition().values();
    double held = 0.0;
    double tried = 0.0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const TransitionEstimate learned = learn(model, "oas-ml", 400, 700 + seed);
      for (std::size_t i = 0; i < truth.size(); ++i) {
        if (std::isnan(learned.standard_error[i])) continue;
        tried += 1.0;
        held += learned.lower[i] <= truth[i] + 1e-9 && truth[i] <= learned.upper[i] + 1e-9;
      }
    }
    EXPECT_GT(held / tried, 0.88) << name;
  }
}

class CornerModels : public ::testing::TestWithParam<ProblemInfo> {};

// Whatever the model and however short the log: an estimate whose numbers are numbers, whose
// intervals hold it, and rows without error bars that are flagged; or an error that says why.
TEST_P(CornerModels, EveryEstimatorGivesSoundNumbers) {
  const Pomdp model = GetParam().make();
  for (const char* name : {"oas", "oas-overlap", "oas-weighted", "oas-ml", "em"}) {
    for (const std::size_t steps : {2, 3, 7, 40, 400}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(steps));
      TransitionEstimate learned;
      try {
        learned = learn(model, name, steps, 5);
      } catch (const InvalidArgument& error) {
        EXPECT_GT(std::string(error.what()).size(), 20U);
        continue;
      }
      std::vector<char> flagged(learned.visits.size(), 0);
      for (const FlaggedRow& row : learned.flagged) flagged[row_of(row, model)] = 1;
      const auto values = learned.transition.values();
      const auto n = static_cast<std::size_t>(model.num_states());
      for (std::size_t i = 0; i < learned.lower.size(); ++i) {
        ASSERT_TRUE(std::isfinite(values[i]) && std::isfinite(learned.lower[i]));
        EXPECT_LE(learned.lower[i], values[i] + 1e-9) << i;
        EXPECT_GE(learned.upper[i], values[i] - 1e-9) << i;
        EXPECT_EQ(std::isnan(learned.standard_error[i]), flagged[i / n] != 0) << i;
        const bool known = flagged[i / n] == 0 && n > 1;
        EXPECT_TRUE(!known || learned.upper[i] > learned.lower[i]) << i;
        // One visit is no certainty.
        EXPECT_TRUE(!known || learned.visits[i / n] > 1.9) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CornerModels, ::testing::ValuesIn(corner_models()),
                         [](const auto& one) {
                           std::string name(one.param.name.substr(7));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace oas
