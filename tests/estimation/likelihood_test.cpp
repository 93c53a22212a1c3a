#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/detail/likelihood_kernel.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/estimation/transition_error.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

std::size_t index_of(const Pomdp& model, Action a, int s, int next) {
  const int n = model.num_states();
  return static_cast<std::size_t>((a * n + s) * n + next);
}

// Expected transitions by summing over every state path, straight from the definition. The last
// transition of a `before` run is left out: nothing is seen of it.
class PathCounts {
 public:
  // `never_left`: paths that leave this row of T, a·S + s, are left out; -1: none are.
  PathCounts(const Pomdp& model, const Trajectory& rows, int never_left = -1)
      : model_(model), rows_(rows), never_left_(never_left), path_(rows.size() + 1) {
    counts_.assign(model.transition().values().size(), 0.0);
    for (int s = 0; s < model.num_states(); ++s) {
      path_[0] = s;
      extend(0, model.start()[static_cast<std::size_t>(s)]);
    }
    for (double& count : counts_) count /= likelihood_;
  }
  [[nodiscard]] const std::vector<double>& counts() const { return counts_; }
  [[nodiscard]] double likelihood() const { return likelihood_; }

 private:
  void extend(std::size_t t, double weight) {
    if (t == rows_.size()) {
      const std::size_t seen = rows_.size() - (model_.timing() == Timing::before ? 1 : 0);
      for (std::size_t i = 0; i < seen; ++i) {
        if (rows_.actions[i] * model_.num_states() + path_[i] == never_left_) return;
      }
      likelihood_ += weight;
      for (std::size_t i = 0; i < seen; ++i) {
        counts_[index_of(model_, rows_.actions[i], path_[i], path_[i + 1])] += weight;
      }
      return;
    }
    const Action a = rows_.actions[t];
    for (int next = 0; next < model_.num_states(); ++next) {
      path_[t + 1] = next;
      double step = model_.transition()(a, State{path_[t]}, State{next});
      if (rows_.observations[t] != kMissing) {
        step *= model_.sensors()(a, State{model_.timing() == Timing::before ? path_[t] : next},
                                 rows_.observations[t]);
      }
      extend(t + 1, weight * step);
    }
  }

  const Pomdp& model_;
  const Trajectory& rows_;
  int never_left_;
  std::vector<int> path_;
  std::vector<double> counts_;
  double likelihood_ = 0.0;
};

Pomdp model_of(int states, Timing timing, std::uint64_t seed, double concentration = 0.5) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.timing = timing;
  options.concentration = concentration;
  return test::random_model(options, seed);
}

void append_run(TransitionLikelihood& likelihood, const Trajectory& rows) {
  likelihood.start_run();
  likelihood.append(rows.actions, rows.observations);
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  EXPECT_EQ(x.size(), y.size());
  test::Worst worst;
  for (std::size_t i = 0; i < x.size(); ++i) worst.take(std::abs(x[i] - y[i]));
  return worst.value();
}

class BothTimings : public ::testing::TestWithParam<Timing> {};
INSTANTIATE_TEST_SUITE_P(All, BothTimings, ::testing::Values(Timing::before, Timing::after));

// Every kernel: fixed sizes, and 7 for the one of any size.
TEST_P(BothTimings, APassEqualsTheSumOverAllPaths) {
  for (const int states : {1, 2, 3, 4, 5, 6, 7, 8, 10}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Pomdp model = model_of(states, GetParam(), seed);
      TransitionLikelihood likelihood(model);
      std::vector<double> expected(model.transition().values().size(), 0.0);
      double log_likelihood = 0.0;
      for (const std::size_t length : {std::size_t{1}, std::size_t{states > 4 ? 4U : 6U}}) {
        const Trajectory rows = test::play_uniformly(model, length, 0.2, 10 * seed + length);
        append_run(likelihood, rows);
        const PathCounts paths(model, rows);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += paths.counts()[i];
        log_likelihood += std::log(paths.likelihood());
      }
      const LikelihoodPass pass = likelihood.pass(model.transition());
      EXPECT_NEAR(pass.log_likelihood, log_likelihood, 1e-12);
      EXPECT_LT(largest_difference(pass.counts, expected), 1e-12) << states << " states";
    }
  }
}

TEST_P(BothTimings, APassWithoutARowEqualsTheSumOverPathsThatNeverLeaveIt) {
  for (const int states : {2, 3, 5, 7}) {
    const Pomdp model = model_of(states, GetParam(), 21);
    const Trajectory rows = test::play_uniformly(model, 5, 0.2, 4);
    TransitionLikelihood likelihood(model);
    append_run(likelihood, rows);
    for (int row = 0; row < states * model.num_actions(); ++row) {
      const PathCounts paths(model, rows, row);
      PassOptions options;
      options.never_left = {static_cast<std::size_t>(row)};
      const LikelihoodPass pass = likelihood.pass(model.transition(), options);
      if (paths.likelihood() == 0.0) {
        EXPECT_FALSE(pass.possible());
        continue;
      }
      EXPECT_NEAR(pass.log_likelihood, std::log(paths.likelihood()), 1e-12) << row;
      EXPECT_LT(largest_difference(pass.counts, paths.counts()), 1e-12) << row;
    }
  }
}

TEST(Likelihood, ARowThatIsNotThereCannotBeLeftOut) {
  const Pomdp model = model_of(2, Timing::before, 1);
  TransitionLikelihood likelihood(model);
  append_run(likelihood, test::play_uniformly(model, 5, 0.0, 1));
  PassOptions options;
  options.never_left = {static_cast<std::size_t>(2 * model.num_actions())};
  EXPECT_THROW((void)likelihood.pass(model.transition(), options), InvalidArgument);
}

// The likelihood with the transposed T is another one: the test above would see it.
TEST_P(BothTimings, ATransposedTransitionWouldBeSeen) {
  const Pomdp model = model_of(3, GetParam(), 3, 0.3);
  TransitionLikelihood likelihood(model);
  append_run(likelihood, test::play_uniformly(model, 6, 0.0, 1));
  const double right = likelihood.pass(model.transition()).log_likelihood;
  const double wrong = likelihood.pass(test::transposed(model).transition()).log_likelihood;
  EXPECT_GT(std::abs(right - wrong), 1e-3);
}

TransitionModel moved(const TransitionModel& transition, std::size_t from, std::size_t to,
                      double mass) {
  std::vector<double> values(transition.values().begin(), transition.values().end());
  values[from] -= mass;
  values[to] += mass;
  return {transition.num_states(), transition.num_actions(), values};
}

TEST_P(BothTimings, TheScoreIsTheDerivative) {
  const Pomdp model = model_of(3, GetParam(), 5, 5.0);
  TransitionLikelihood likelihood(model);
  for (std::uint64_t run = 0; run < 3; ++run) {
    append_run(likelihood, test::play_uniformly(model, 400, 0.1, run));
  }
  const TransitionModel at = model_of(3, GetParam(), 6, 5.0).transition();
  const std::vector<double> score = likelihood.pass(at).score;
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < score.size(); ++i) {
    const std::size_t other = i / 3 * 3 + (i + 1) % 3;
    const double up = likelihood.pass(moved(at, other, i, kStep)).log_likelihood;
    const double down = likelihood.pass(moved(at, i, other, kStep)).log_likelihood;
    const double slope = (up - down) / (2.0 * kStep);
    EXPECT_NEAR(score[i] - score[other], slope, 1e-5 * (1.0 + std::abs(slope)));
  }
}

// What the smoother of the belief module says, one row after the other, without blocks.
void expect_smoother_agrees(const Pomdp& model, const Trajectory& rows) {
  TransitionLikelihood likelihood(model);
  append_run(likelihood, rows);
  const LikelihoodPass pass = likelihood.pass(model.transition());
  long double log_likelihood = 0.0;  // a plain sum of doubles would be the less exact one
  const int n = model.num_states();
  std::vector<double> leaving(static_cast<std::size_t>(model.num_actions() * n), 0.0);
  std::vector<double> entering = leaving;
  const std::size_t seen = rows.size() - (model.timing() == Timing::before ? 1 : 0);
  smooth(model, rows.actions, rows.observations,
         [&](std::size_t t, std::span<const double>, std::span<const double> smoothed, double p) {
           if (t < rows.size()) log_likelihood += std::log(static_cast<long double>(p));
           for (int s = 0; s < n; ++s) {
             if (t < seen)
               leaving[static_cast<std::size_t>(rows.actions[t] * n + s)] += smoothed[s];
             if (t > 0 && t <= seen) {
               entering[static_cast<std::size_t>(rows.actions[t - 1] * n + s)] += smoothed[s];
             }
           }
         });
  std::vector<double> rows_of_counts(leaving.size(), 0.0);
  std::vector<double> columns_of_counts(leaving.size(), 0.0);
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (int s = 0; s < n; ++s) {
      for (int next = 0; next < n; ++next) {
        const double count = pass.counts[index_of(model, a, s, next)];
        rows_of_counts[static_cast<std::size_t>(a * n + s)] += count;
        columns_of_counts[static_cast<std::size_t>(a * n + next)] += count;
      }
    }
  }
  const double scale = static_cast<double>(rows.size());
  EXPECT_NEAR(pass.log_likelihood / scale, static_cast<double>(log_likelihood) / scale, 1e-14);
  EXPECT_LT(largest_difference(rows_of_counts, leaving) / scale, 1e-13);
  EXPECT_LT(largest_difference(columns_of_counts, entering) / scale, 1e-13);
  EXPECT_LT(pass.handover_error, 1e-13);
}

TEST_P(BothTimings, LongRunsAreExactAcrossBlocks) {
  expect_smoother_agrees(model_of(3, GetParam(), 1),
                         test::play_uniformly(model_of(3, GetParam(), 1), 30'000, 0.05, 1));
  const Pomdp seven = model_of(7, GetParam(), 2);
  expect_smoother_agrees(seven, test::play_uniformly(seven, 20'000, 0.05, 1));
}

// A chain that hardly ever moves and whose sensor hardly tells: no burn-in is long enough.
TEST_P(BothTimings, SlowChainsAreExactAcrossBlocks) {
  PomdpParts parts = model_of(2, GetParam(), 1).parts();
  constexpr double kStay = 1.0 - 1e-5;
  parts.transition = TransitionModel(2, 2,
                                     {kStay, 1 - kStay, 1 - kStay, kStay, kStay, 1 - kStay,
                                      0.5 * (1 - kStay), 1 - 0.5 * (1 - kStay)});
  parts.sensors = ObservationModel(2, 2, 4,
                                   {0.25, 0.25, 0.25, 0.25, 0.26, 0.24, 0.25, 0.25,  //
                                    0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.24, 0.26});
  const Pomdp model(parts);
  expect_smoother_agrees(model, test::play_uniformly(model, 50'000, 0.05, 4));
}

TEST_P(BothTimings, ThreadsDoNotChangeABit) {
  const Pomdp model = model_of(3, GetParam(), 1);
  TransitionLikelihood likelihood(model);
  for (std::uint64_t run = 0; run < 20; ++run) {
    append_run(likelihood, test::play_uniformly(model, 1 + 997 * run * run % 30'000, 0.05, run));
  }
  PassOptions options;
  options.batches = 64;
  const LikelihoodPass one = likelihood.pass(model.transition(), options, {1});
  for (const int threads : {2, 4}) {
    const LikelihoodPass many = likelihood.pass(model.transition(), options, {threads});
    EXPECT_EQ(many.log_likelihood, one.log_likelihood);
    EXPECT_EQ(many.score, one.score);
    EXPECT_EQ(many.batch_scores, one.batch_scores);
  }
  EXPECT_GE(one.batch_steps.size(), 32U);
  EXPECT_LE(one.batch_steps.size(), 192U);
  std::vector<double> sum(one.score.size(), 0.0);
  for (std::size_t i = 0; i < one.batch_scores.size(); ++i) {
    sum[i % sum.size()] += one.batch_scores[i];
  }
  EXPECT_LT(largest_difference(sum, one.score), 1e-6);
  const auto transitions = likelihood.transitions();
  EXPECT_EQ(std::accumulate(one.batch_steps.begin(), one.batch_steps.end(), std::int64_t{0}),
            std::accumulate(transitions.begin(), transitions.end(), std::int64_t{0}));
}

// A log cut into windows that look some rows ahead gives what the whole log gives.
TEST_P(BothTimings, WindowsAddUpToTheWhole) {
  const Pomdp model = model_of(3, GetParam(), 1);
  const Trajectory rows = test::play_uniformly(model, 40'000, 0.05, 3);
  const std::vector<std::size_t> runs = {0, 1, 700, 15'000, 22'000, 22'001};  // where they start
  const auto window = [&](std::size_t first, std::size_t end) {
    TransitionLikelihood part(model);
    for (std::size_t t = first; t < end; ++t) {
      if (std::find(runs.begin(), runs.end(), t) != runs.end()) part.start_run();
      part.append(rows.actions[t], rows.observations[t]);
    }
    return part;
  };
  const LikelihoodPass whole = window(0, rows.size()).pass(model.transition());
  std::vector<double> counts(whole.counts.size(), 0.0);
  double log_likelihood = 0.0;
  PassOptions options;
  const std::vector<std::size_t> cuts = {0, 1, 9'000, 15'000, 21'999, 22'000, 30'000, 40'000};
  for (std::size_t w = 0; w + 1 < cuts.size(); ++w) {
    options.rows_ahead = std::min<std::size_t>(rows.size() - cuts[w + 1], 6'000);
    if (std::find(runs.begin(), runs.end(), cuts[w]) != runs.end()) options.first_belief.clear();
    const LikelihoodPass pass =
        window(cuts[w], cuts[w + 1] + options.rows_ahead).pass(model.transition(), options);
    log_likelihood += pass.log_likelihood;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += pass.counts[i];
    options.first_belief = pass.last_belief;
  }
  EXPECT_NEAR(log_likelihood, whole.log_likelihood, 1e-9);
  EXPECT_LT(largest_difference(counts, whole.counts), 1e-9);
}

// The wide kernels and the portable ones give the same bits.
TEST(LikelihoodKernels, InstructionSetsAgreeToTheBit) {
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 10, 13, 17, 43}) {
    const int stride = (n + 3) / 4 * 4;
    Rng rng({1, 0, Role::test});
    const auto padded = [&](int count) {
      const std::vector<double> tight = test::random_rows(count, n, 0.7, 0.0, rng);
      std::vector<double> table(static_cast<std::size_t>(count * stride), 0.0);
      for (int i = 0; i < count * n; ++i) {
        table[static_cast<std::size_t>(i / n * stride + i % n)] =
            tight[static_cast<std::size_t>(i)];
      }
      return table;
    };
    const std::vector<double> transition = padded(2 * n);
    const std::vector<double> transposed = padded(2 * n);
    const std::vector<double> emission = padded(5);
    const detail::ChainTables tables = {n, stride, transition.data(), transposed.data(),
                                        emission.data()};
    constexpr std::size_t kSteps = 1000;
    std::vector<std::uint32_t> actions, codes;
    for (std::size_t i = 0; i < kSteps; ++i) {
      actions.push_back(rng.below(2) * static_cast<std::uint32_t>(n * stride));
      codes.push_back(rng.below(5) * static_cast<std::uint32_t>(stride));
    }
    const detail::ChainSteps steps = {actions.data(), codes.data(), kSteps};
    const auto results = [&](const detail::LikelihoodKernels& kernels, int group) {
      std::vector<double> out((kSteps + 1) * static_cast<std::size_t>(stride), 0.0);
      std::fill_n(out.begin(), n, 1.0);
      std::vector<double> message(static_cast<std::size_t>(2 * stride), 0.0);
      std::fill_n(message.begin(), n, 1.0);
      std::vector<double> sums(transition.size(), 0.0);
      detail::ScaledProduct product;
      EXPECT_TRUE(kernels.forward(tables, steps, group, out.data(), product));
      EXPECT_TRUE(kernels.backward(tables, steps, group, out.data(), message.data(), sums.data()));
      std::vector<double> emissions(emission.size(), 0.0);
      std::vector<double> again(message.size(), 0.0);
      std::fill_n(again.begin(), n, 1.0);
      std::vector<double> sums_again(transition.size(), 0.0);
      EXPECT_TRUE(kernels.backward_emissions(tables, steps, group, out.data(), again.data(),
                                             sums_again.data(), emissions.data()));
      EXPECT_EQ(sums_again, sums);
      EXPECT_TRUE(kernels.retreat(tables, steps, group, message.data()));
      out.insert(out.end(), message.begin(), message.begin() + n);
      out.insert(out.end(), sums.begin(), sums.end());
      out.insert(out.end(), emissions.begin(), emissions.end());
      out.push_back(product.mantissa);
      out.push_back(static_cast<double>(product.exponent));
      return out;
    };
    for (const int group : {1, 16}) {
      EXPECT_EQ(results(detail::likelihood_kernels(n), group),
                results(detail::portable_likelihood_kernels(n), group));
    }
  }
}

// Observations so unlikely that sixteen of them in a row would underflow, and one that cannot be.
TEST(TransitionLikelihood, TinyAndZeroProbabilities) {
  PomdpParts parts = model_of(2, Timing::before, 1).parts();
  parts.transition = TransitionModel(2, 2, {1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0});
  parts.sensors = ObservationModel(2, 2, 4,
                                   {1.0, 1e-60, 0.0, 0.0, 1e-80, 1.0, 0.0, 0.0,  //
                                    0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5});
  parts.start = {1.0, 0.0};
  const Pomdp model(parts);
  TransitionLikelihood likelihood(model);
  for (int i = 0; i < 40; ++i) likelihood.append(Action{0}, Observation{1});
  EXPECT_NEAR(likelihood.pass(model.transition()).log_likelihood, 40 * std::log(1e-60), 1e-9);
  likelihood.append(Action{1}, Observation{3});
  const LikelihoodPass pass = likelihood.pass(model.transition());
  EXPECT_FALSE(pass.possible());
  EXPECT_EQ(pass.score, std::vector<double>(8, 0.0));
  EXPECT_TRUE(likelihood.pass(mixed_with_uniform(model.transition(), 0.1)).possible());
}

TEST(TransitionLikelihood, WrongRowsAreRefusedByName) {
  PomdpParts parts = model_of(2, Timing::before, 1).parts();
  parts.sensors = ObservationModel(2, 2, 4,
                                   {0.5, 0.5, 0.0, 0.0, 0.1, 0.9, 0.0, 0.0,  //
                                    0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5});
  const Pomdp model(parts);
  TransitionLikelihood likelihood(model);
  const auto message = [&](int action, int observation) -> std::string {
    try {
      likelihood.append(Action{action}, Observation{observation});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no exception";
  };
  EXPECT_EQ(message(0, 1), "no exception");
  EXPECT_EQ(message(1, -1), "no exception");
  EXPECT_THAT(message(2, 0), HasSubstr("action is 2"));
  EXPECT_THAT(message(0, 4), HasSubstr("observation is 4"));
  EXPECT_THAT(message(0, -2), HasSubstr("observation is -2"));
  EXPECT_THAT(message(0, 2), HasSubstr("probability 0 in every state"));
  EXPECT_EQ(likelihood.rows(), 2U);
  EXPECT_EQ(likelihood.missing(), 1U);
  EXPECT_EQ(likelihood.runs(), 1U);
  EXPECT_THROW(static_cast<void>(likelihood.pass(TransitionModel::uniform(3, 2))), InvalidArgument);
}

TEST(TransitionLikelihood, WithoutRowsEverythingIsZero) {
  const TransitionLikelihood likelihood(model_of(3, Timing::before, 1));
  const LikelihoodPass pass = likelihood.pass(TransitionModel::uniform(3, 2));
  EXPECT_EQ(pass.log_likelihood, 0.0);
  EXPECT_EQ(pass.counts, std::vector<double>(18, 0.0));
}

}  // namespace
}  // namespace oas
