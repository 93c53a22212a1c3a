// The climb to the maximum where sensors hardly tell the states apart: it must not end below the
// truth.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/detail/best_climb.hpp"
#include "oas/estimation/likelihood/detail/ring_search.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

using Table = std::vector<double>;

// The right observation with probability (1 + (S - 1) alpha) / S, the others alike: σ_S = alpha.
Table pointing(int num_states, double alpha) {
  Table table;
  for (int s = 0; s < num_states; ++s) {
    for (int o = 0; o < num_states; ++o) {
      table.push_back((1.0 - alpha) / num_states + (s == o ? alpha : 0.0));
    }
  }
  return table;
}

// Names of states in an order of their own.
std::vector<int> mixed_order(int num_states) {
  std::vector<int> order(static_cast<std::size_t>(num_states));
  std::iota(order.begin(), order.end(), 0);
  Rng rng({3, static_cast<std::uint32_t>(num_states), Role::test});
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i],
              order[static_cast<std::size_t>(rng.uniform() * static_cast<double>(i + 1))]);
  }
  return order;
}

Table sticky(int num_states, double stay) {
  Table table;
  for (int i = 0; i < num_states * num_states; ++i) {
    table.push_back(i % (num_states + 1) == 0 ? stay : (1.0 - stay) / (num_states - 1));
  }
  return table;
}

// One state on with probability `on`; the last one for ever.
Table absorbing(int num_states, double on) {
  Table table(static_cast<std::size_t>(num_states * num_states), 0.0);
  for (int s = 0; s < num_states; ++s) {
    const bool last = s + 1 == num_states;
    table[static_cast<std::size_t>(s * num_states + s)] = last ? 1.0 : 1.0 - on;
    if (!last) table[static_cast<std::size_t>(s * num_states + s + 1)] = on;
  }
  return table;
}

struct Chain {
  std::string name;
  int states;
  std::vector<int> steps;  // along a ring; else: sticky or absorbing
  double noise;
  double alpha;
  int rows;
  int runs = 1;
};

void PrintTo(const Chain& chain, std::ostream* out) {
  *out << chain.name << chain.states << " alpha " << chain.alpha << " rows " << chain.rows;
}

Pomdp model_of(const Chain& chain) {
  PomdpParts parts;
  const int n = chain.states;
  const auto actions = std::max<std::size_t>(chain.steps.size(), 1);
  parts.states = Labels(n, "states");
  parts.actions = Labels(static_cast<int>(actions), "actions");
  parts.observations = Labels(n, "observations");
  parts.start.assign(static_cast<std::size_t>(n), 1.0 / n);
  if (chain.name == "absorbing") {
    parts.start.assign(static_cast<std::size_t>(n), 0.0);
    parts.start[0] = 1.0;
    parts.transition = TransitionModel(n, 1, absorbing(n, 0.02));
  } else if (chain.steps.empty()) {
    parts.transition = TransitionModel(n, 1, sticky(n, 0.99));
  } else {
    parts.transition = detail::Ring{mixed_order(n), chain.steps, chain.noise}.model();
  }
  Table sensors;
  for (std::size_t a = 0; a < actions; ++a) {
    const Table one = pointing(n, chain.alpha * (a == 0 ? 1.0 : 0.8));
    sensors.insert(sensors.end(), one.begin(), one.end());
  }
  parts.sensors = ObservationModel(n, static_cast<int>(actions), n, sensors);
  return Pomdp(parts);
}

class WeakSensors : public testing::TestWithParam<Chain> {};

TEST_P(WeakSensors, TheClimbDoesNotEndBelowTheTruth) {
  const Chain& chain = GetParam();
  const Pomdp model = model_of(chain);
  TransitionLikelihood rows(model);
  for (int run = 0; run < chain.runs; ++run) {
    ClosedLoop loop(model, {.name = "uniform"}, 11, static_cast<std::uint32_t>(run));
    Trajectory log;
    loop.advance(static_cast<std::size_t>(chain.rows / chain.runs), log);
    rows.start_run();
    rows.append(log.actions, log.observations);
  }
  LikelihoodEstimatorOptions options;
  options.error_bars = false;
  const TransitionModel first = TransitionModel::uniform(chain.states, model.num_actions());
  const TransitionEstimate found = estimate_likelihood(
      likelihood_rows(rows, {1}), likelihood_starts(model, first), model, options);
  const double truth = rows.pass(model.transition(), {}, {1}).log_likelihood;
  RecordProperty("passes", found.passes);
  const double none = rows.pass(first, {}, {1}).log_likelihood;
  EXPECT_GT(*found.log_likelihood, truth - 0.1)
      << found.passes << " passes; above uniform: " << *found.log_likelihood - none
      << ", the truth " << truth - none;
}

std::vector<Chain> chains() {
  std::vector<Chain> all;
  for (const double alpha : {0.3, 0.1, 0.04}) {
    // Rows that tell of a clock: some 40 of log-likelihood, S alpha² / 2 each.
    for (const int n : {3, 4, 5, 6, 7, 8}) {
      const int rows = static_cast<int>(40.0 / (0.5 * (n - 1) * alpha * alpha)) + 400;
      all.push_back({"clock", n, {1}, 0.0, alpha, rows});
      if (n < 7) all.push_back({"noisy ring", n, {1}, 0.01, alpha, 2 * rows});
    }
    for (const int n : {3, 6}) {
      const int rows = static_cast<int>(60.0 / (0.5 * (n - 1) * alpha * alpha)) + 400;
      all.push_back({"clock of two actions", n, {1, 1}, 0.0, alpha, rows});
      all.push_back({"there and back", n, {1, n - 1}, 0.0, alpha, rows});
      all.push_back({"on and stay", n, {0, 1}, 0.0, alpha, rows});
      all.push_back({"sticky", n, {}, 0.0, alpha, rows});
      all.push_back({"absorbing", n, {}, 0.0, alpha, rows, rows / 200});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Chains, WeakSensors, testing::ValuesIn(chains()));

// Four states, of which the last two show readings that differ by so much after each of two
// actions.
Pomdp alike_model(double after_first, double after_second) {
  PomdpParts parts;
  parts.states = Labels(4, "states");
  parts.actions = Labels(2, "actions");
  parts.observations = Labels(4, "observations");
  parts.start.assign(4, 0.25);
  Table sensors;
  for (const double apart : {after_first, after_second}) {
    const Table one = {0.70, 0.12, 0.10,         0.08,         0.10, 0.66, 0.14, 0.10,
                       0.12, 0.10, 0.39 + apart, 0.39 - apart, 0.12, 0.10, 0.39, 0.39};
    sensors.insert(sensors.end(), one.begin(), one.end());
  }
  parts.sensors = ObservationModel(4, 2, 4, sensors);
  parts.transition =
      TransitionModel(4, 2, {0.50, 0.20, 0.25, 0.05, 0.10, 0.40, 0.10, 0.40, 0.30, 0.10, 0.50,
                             0.10, 0.05, 0.55, 0.10, 0.30, 0.20, 0.50, 0.10, 0.20, 0.40, 0.20,
                             0.30, 0.10, 0.10, 0.10, 0.20, 0.60, 0.60, 0.10, 0.25, 0.05});
  return Pomdp(parts);
}

// Exchanging the two makes another maximum of nearly the same height. Of the two the higher one is
// the estimate, and its intervals hold the other one where that is lower by less than one; also in
// the row whose name, exchanged, is that of a row that is not determined.
TEST(AlikeStates, IntervalsHoldBothMaxima) {
  const Pomdp model = alike_model(0.04, 0.04);
  int close = 0;
  int beside_unknown = 0;
  for (std::uint32_t log = 0; log < 6; ++log) {
    TransitionLikelihood rows(model);
    ClosedLoop loop(model, {.name = "uniform"}, 5, log);
    Trajectory trajectory;
    loop.advance(2000, trajectory);
    rows.append(trajectory.actions, trajectory.observations);
    const LikelihoodRows logged = likelihood_rows(rows, {1});
    const TransitionModel first = TransitionModel::uniform(4, 2);
    LikelihoodEstimatorOptions options;
    const TransitionEstimate found =
        estimate_likelihood(logged, likelihood_starts(model, first), model, options);
    for (const bool exchanged : {false, true}) {
      const TransitionModel from =
          exchanged ? detail::with_swapped_states(found.transition, State{2}, State{3})
                    : found.transition;
      const LikelihoodEstimate end =
          maximize_likelihood(logged.likelihood, mixed_with_uniform(from, 0.02));
      const double fall = *found.log_likelihood - end.objective;
      EXPECT_GT(fall, -0.05) << log;
      if (fall > 1.0) continue;
      close += exchanged ? 1 : 0;
      for (std::size_t i = 0; i < found.lower.size(); ++i) {
        const std::size_t row = i / 4;
        const auto is_known = [&](std::size_t r) {
          return !std::isnan(found.standard_error[4 * r]);
        };
        const bool is_alike = row % 4 >= 2;
        if (exchanged && is_alike && is_known(row) && !is_known(row ^ 1U)) {
          ++beside_unknown;
          EXPECT_LE(found.lower[i], 0.01) << log << " entry " << i;
          EXPECT_GE(found.upper[i], 0.99) << log << " entry " << i;
        }
        EXPECT_GE(end.transition.values()[i], found.lower[i] - 0.01) << log << " entry " << i;
        EXPECT_LE(end.transition.values()[i], found.upper[i] + 0.01) << log << " entry " << i;
      }
    }
  }
  EXPECT_GE(close, 1);
  EXPECT_GE(beside_unknown, 1);
}

// What counts is how many readings tell the two apart: those of an action that does, and of weights
// by age as many as they are worth.
TEST(AlikeStates, AreThoseThatTheReadingsHardlyTellApart) {
  const Pomdp model = alike_model(0.04, 0.3);
  TransitionLikelihood rows(model);
  ClosedLoop loop(model, {.name = "uniform"}, 5, 0);
  Trajectory trajectory;
  loop.advance(2000, trajectory);
  rows.append(trajectory.actions, trajectory.observations);
  const auto climbs = [&](const LikelihoodRows& logged) {
    const TransitionModel first = TransitionModel::uniform(4, 2);
    return detail::best_climb(logged, likelihood_starts(model, first), model, {}, 0.3).climbs;
  };
  const LikelihoodRows logged = likelihood_rows(rows, {1});
  LikelihoodRows seldom = logged;
  seldom.transitions = {1990, 10};
  LikelihoodRows faded = logged;
  faded.effective_rows = 200.0;
  LikelihoodRows unseen = logged;
  unseen.missing = 1800;
  EXPECT_EQ(climbs(seldom), climbs(logged) + 1);
  EXPECT_EQ(climbs(faded), climbs(logged) + 1);
  EXPECT_EQ(climbs(unseen), climbs(logged) + 1);
}

}  // namespace
}  // namespace oas
