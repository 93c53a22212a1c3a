#include "oas/counts/forgetting.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

TEST(Forgetting, MeanWeightsAndEffectiveRowsAreSums) {
  for (const Forgetting& weights :
       {Forgetting{100.0, 0}, Forgetting{0.0, 70}, Forgetting{1000.0, 50}, Forgetting{1.0, 0}}) {
    for (const std::int64_t first : {0, 13, 60, 69, 200}) {
      for (const std::int64_t count : {1, 16, 64}) {
        double sum = 0.0;
        for (std::int64_t age = first; age < first + count; ++age) {
          sum += weights.weight(static_cast<double>(age));
        }
        EXPECT_NEAR(weights.mean_weight(first, count), sum / static_cast<double>(count), 1e-12);
      }
    }
    EXPECT_LT(weights.weight(static_cast<double>(weights.reach())), 1.0000001 * std::exp2(-30.0));
  }
  const RunLengths one = {{1'000'000, 1}};
  const RunLengths many = {{1'000, 500}, {200, 10}, {498'000, 1}};
  EXPECT_NEAR((Forgetting{1000.0, 0}.effective_rows(one)), 2000.0 / std::log(2.0), 1.0);
  EXPECT_DOUBLE_EQ((Forgetting{0.0, 500}.effective_rows(one)), 500.0);
  EXPECT_DOUBLE_EQ((Forgetting{0.0, 500, Age::log}.effective_rows(many)), 500.0);
  EXPECT_DOUBLE_EQ((Forgetting{0.0, 500, Age::run}.effective_rows(many)), 501 * 500.0 + 2000.0);
  EXPECT_DOUBLE_EQ((Forgetting{0.0, 500}.effective_rows({{100, 1}})), 100.0);
  EXPECT_FALSE(Forgetting{}.active());
  EXPECT_THROW((Forgetting{0.5, 0}.validate()), InvalidArgument);
  EXPECT_THROW((Forgetting{-1.0, 0}.validate()), InvalidArgument);
  EXPECT_THROW((Forgetting{0.0, 1}.validate()), InvalidArgument);
  EXPECT_THROW((Forgetting{0.0, -5}.validate()), InvalidArgument);
  EXPECT_NO_THROW((Forgetting{0.0, 5}.check_age(1)));
  EXPECT_NO_THROW(Forgetting{}.check_age(2));
  EXPECT_NO_THROW((Forgetting{0.0, 5, Age::run}.check_age(2)));
  EXPECT_THROW((Forgetting{0.0, 5}.check_age(2)), InvalidArgument);
}

MomentSeries folded(const LeftInverses& inverses, const Trajectory& rows, std::size_t first,
                    std::size_t count, const Forgetting& forgetting) {
  FoldOptions options;
  options.forgetting = forgetting;
  PairFolder folder(inverses, Timing::before, options);
  const std::span<const Action> actions(rows.actions);
  const std::span<const Observation> observations(rows.observations);
  for (std::size_t at = first; at < first + count; at += 1000) {  // blocks must not matter
    const std::size_t size = std::min<std::size_t>(1000, first + count - at);
    folder.add(actions.subspan(at, size), observations.subspan(at, size), {});
  }
  return folder.finish();
}

TEST(Forgetting, AWindowIsTheEndOfTheLogAndFilesFollowEachOther) {
  test::RandomModelOptions model_options;
  model_options.min_alpha = 0.2;
  const Pomdp model = test::random_model(model_options, 3);
  const LeftInverses inverses(model);
  const Trajectory rows = test::play_uniformly(model, 64'000, 0.05, 1);
  // A window of whole batches: 12,800 rows are 128 batches of 100.
  const Forgetting window{0.0, 12'800};
  MomentSeries late = folded(inverses, rows, 0, 64'000, window);
  EXPECT_LE(late.batches.size(), 300U) << "old batches are let go";
  late.forget(window);
  MomentSeries tail = folded(inverses, rows, 51'200, 12'800, {});
  const PairMoments expected = tail.total();
  const PairMoments found = late.total();
  for (std::size_t i = 0; i < expected.sums.size(); ++i) {
    // The pair across the edge of the window belongs to its second row here.
    EXPECT_NEAR(found.sums[i], expected.sums[i], 20.0);
  }
  EXPECT_EQ(late.rows, 64'000);
  // Two files, cut where a batch ends, are as one but for the pair across.
  const Forgetting fading{1600.0, 0, Age::log};
  MomentSeries whole = folded(inverses, rows, 0, 64'000, fading);
  MomentSeries parts = folded(inverses, rows, 0, 32'000, fading);
  parts.append(folded(inverses, rows, 32'000, 32'000, fading));
  whole.forget(fading);
  parts.forget(fading);
  const PairMoments one = whole.total();
  const PairMoments two = parts.total();
  double mass = 0.0;
  for (std::size_t i = 0; i < one.sums.size(); ++i) {
    EXPECT_NEAR(one.sums[i], two.sums[i], 1e-3);
    mass += one.sums[i];
  }
  EXPECT_NEAR(mass, 0.95 * 0.95 * 1600.0 / std::log(2.0), 250.0);
}

// The sum over pairs, each with the mean weight of the span of rows that its second row is in.
PairMoments weighed_by_hand(const LeftInverses& inverses, const std::vector<Trajectory>& runs,
                            const Forgetting& forgetting, std::int64_t span) {
  PairMoments sum(inverses.num_states(), inverses.num_actions());
  for (const Trajectory& run : runs) {
    const auto rows = static_cast<std::int64_t>(run.size());
    for (std::int64_t t = 1; t < rows; ++t) {
      const auto i = static_cast<std::size_t>(t);
      if (run.observations[i - 1] == kMissing || run.observations[i] == kMissing) continue;
      const std::int64_t first = t / span * span;
      const std::int64_t end = std::min(rows, first + span);
      double weight = 0.0;
      for (std::int64_t row = first; row < end; ++row) {
        weight += forgetting.weight(static_cast<double>(rows - 1 - row));
      }
      weight /= static_cast<double>(end - first);
      add_pair({run.actions[i - 1], run.observations[i - 1]}, {run.actions[i], run.observations[i]},
               weight, inverses, Timing::before, sum);
    }
  }
  return sum;
}

// Many units, some watched for a short time: the end of each is what counts, wherever it stands.
TEST(Forgetting, AgeWithinRunsIsThatOfEveryUnit) {
  test::RandomModelOptions model_options;
  model_options.min_alpha = 0.2;
  const Pomdp model = test::random_model(model_options, 3);
  const LeftInverses inverses(model);
  std::vector<Trajectory> runs;
  for (std::uint64_t unit = 0; unit < 60; ++unit) {
    runs.push_back(
        test::play_uniformly(model, unit % 7 == 0 ? 1 + unit : 700 + 13 * unit, 0.05, unit));
  }
  for (const Forgetting& forgetting :
       {Forgetting{0.0, 300, Age::run}, Forgetting{200.0, 0, Age::run},
        Forgetting{150.0, 500, Age::run}, Forgetting{0.0, 2, Age::run}}) {
    FoldOptions options;
    options.forgetting = forgetting;
    // One file of all runs, and a file for each.
    PairFolder folder(inverses, Timing::before, options);
    MomentSeries files;
    for (const Trajectory& run : runs) {
      PairFolder alone(inverses, Timing::before, options);
      alone.add(run.actions, run.observations, {});
      files.append(alone.finish());
      folder.start_run();
      for (std::size_t t = 0; t < run.size(); ++t) {
        folder.add({&run.actions[t], 1}, {&run.observations[t], 1}, {});
      }
    }
    MomentSeries series = folder.finish();
    EXPECT_EQ(series.run_lengths, files.run_lengths);
    EXPECT_EQ(series.runs, 60);
    const PairMoments expected = weighed_by_hand(inverses, runs, forgetting, 16);
    for (MomentSeries* found : {&series, &files}) {
      found->forget(forgetting);
      ASSERT_EQ(found->weights.size(), found->batches.size());
      const PairMoments total = found->total();
      for (std::size_t i = 0; i < total.sums.size(); ++i) {
        EXPECT_NEAR(total.sums[i], expected.sums[i], 1e-9 * (1.0 + std::abs(expected.sums[i])));
      }
    }
    EXPECT_LE(series.batches.size(), 128U);
  }
}

// Batches of about equal weight, not of equal age: with many units there are error bars where one
// unit would not have enough rows for them.
TEST(Forgetting, BatchesOfManyUnitsHaveEqualWeights) {
  test::RandomModelOptions model_options;
  model_options.min_alpha = 0.2;
  const Pomdp model = test::random_model(model_options, 3);
  const LeftInverses inverses(model);
  FoldOptions options;
  options.forgetting = {100.0, 0, Age::run};
  PairFolder folder(inverses, Timing::before, options);
  for (std::uint64_t unit = 0; unit < 400; ++unit) {
    const Trajectory run = test::play_uniformly(model, 900, 0.0, unit);
    folder.start_run();
    folder.add(run.actions, run.observations, {});
  }
  MomentSeries series = folder.finish();
  series.forget(options.forgetting);
  EXPECT_GE(series.batches.size(), 64U);
  EXPECT_GT(series.effective_batches(), 0.9 * static_cast<double>(series.batches.size()));
}

TEST(Forgetting, SeveralRunsMustSayWhatAgeIs) {
  const Pomdp model = test::random_model({.min_alpha = 0.2}, 3);
  const LeftInverses inverses(model);
  const Trajectory rows = test::play_uniformly(model, 500, 0.0, 1);
  const Forgetting window{0.0, 100};
  MomentSeries one = folded(inverses, rows, 0, 250, window);
  MomentSeries two = one;
  EXPECT_NO_THROW(one.forget(window));
  two.append(folded(inverses, rows, 250, 250, window));
  EXPECT_THROW(two.forget(window), InvalidArgument);
  EXPECT_NO_THROW(two.forget({0.0, 100, Age::log}));
}

}  // namespace
}  // namespace oas
