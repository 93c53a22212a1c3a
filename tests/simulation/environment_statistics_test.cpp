#include <gtest/gtest.h>

#include <vector>

#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"
#include "support/chi_square.hpp"
#include "support/printing.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using test::chi_square_p_value;
using test::kFailureProbability;

constexpr int kStates = 3;
constexpr int kActions = 2;
constexpr int kObservations = 4;

class EnvironmentStatistics : public testing::TestWithParam<Timing> {
 protected:
  EnvironmentStatistics() {
    test::RandomModelOptions options;
    options.timing = GetParam();
    options.concentration = 1.0;
    options.zero_fraction = 0.2;
    model_ = test::random_model(options, 21);
  }

  Pomdp model_ = test::random_model({}, 0);
};

// The joint law of (o_t, s_{t+1}) given (s_t, a_t), all cells at once: frequencies, timing and
// independence of the two draws.
TEST_P(EnvironmentStatistics, StepsFollowTheModel) {
  UniformPolicy agent(kActions);
  const Trajectory rows = run(model_, agent, 1'000'000, 77);
  constexpr std::size_t kCells = kStates * kObservations;
  std::vector<std::int64_t> counts(kActions * kStates * kCells, 0);
  for (std::size_t t = 0; t + 1 < rows.size(); ++t) {
    const int from = rows.actions[t] * kStates + rows.states[t];
    const int cell = rows.states[t + 1] * kObservations + rows.observations[t];
    ++counts[static_cast<std::size_t>(from) * kCells + static_cast<std::size_t>(cell)];
  }
  for (int a = 0; a < kActions; ++a) {
    for (int s = 0; s < kStates; ++s) {
      std::vector<double> probabilities;
      for (int next = 0; next < kStates; ++next) {
        const State emitter{GetParam() == Timing::before ? s : next};
        for (int o = 0; o < kObservations; ++o) {
          probabilities.push_back(model_.transition()(Action{a}, State{s}, State{next}) *
                                  model_.sensors()(Action{a}, emitter, Observation{o}));
        }
      }
      const auto found =
          std::span(counts).subspan(static_cast<std::size_t>(a * kStates + s) * kCells, kCells);
      EXPECT_GT(chi_square_p_value(found, probabilities), kFailureProbability) << a << ' ' << s;
    }
  }
}

TEST_P(EnvironmentStatistics, RunsStartAtTheStart) {
  std::vector<std::int64_t> counts(kStates, 0);
  for (std::uint32_t replication = 0; replication < 20'000; ++replication) {
    const Environment environment(model_, Rng({5, replication, Role::environment}));
    ++counts[static_cast<std::size_t>(environment.state())];
  }
  EXPECT_GT(chi_square_p_value(counts, model_.start()), kFailureProbability);
}

INSTANTIATE_TEST_SUITE_P(Timings, EnvironmentStatistics,
                         testing::Values(Timing::before, Timing::after),
                         [](const auto& timing) { return std::string(to_string(timing.param)); });

}  // namespace
}  // namespace oas
