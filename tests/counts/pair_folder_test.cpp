#include "oas/counts/pair_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/property.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

Pomdp make_model(Timing timing) {
  test::RandomModelOptions options;
  options.timing = timing;
  options.min_alpha = 0.1;
  return test::random_model(options, 3);
}

// A log of several runs, each a trajectory.
std::vector<Trajectory> make_log(const std::vector<std::size_t>& lengths, double missing,
                                 std::uint64_t seed) {
  std::vector<Trajectory> runs;
  for (const std::size_t length : lengths) {
    runs.push_back(test::random_rows_of_log(2, 4, length, missing, seed++));
  }
  return runs;
}

MomentSeries fold(const LeftInverses& inverses, Timing timing, const FoldOptions& options,
                  const std::vector<Trajectory>& runs) {
  PairFolder folder(inverses, timing, options);
  for (const Trajectory& rows : runs) {
    folder.start_run();
    if (rows.size() == 0) continue;
    folder.add(rows.actions, rows.observations, rows.propensities);
  }
  return folder.finish();
}

double relative_error(const PairMoments& found, const PairMoments& expected) {
  test::Worst worst;
  double scale = 0.0;
  for (std::size_t i = 0; i < found.sums.size(); ++i) {
    worst.take(std::abs(found.sums[i] - expected.sums[i]));
    scale = std::max(scale, std::abs(expected.sums[i]));
  }
  return scale > 0.0 ? worst.value() / scale : worst.value();
}

// The sum over pairs, term by term, from the definition; weights from the second row.
PairMoments naive(const LeftInverses& inverses, Timing timing, const FoldOptions& options,
                  const std::vector<Trajectory>& runs) {
  const int n = inverses.num_states();
  PairMoments moments(n, inverses.num_actions());
  for (const Trajectory& rows : runs) {
    for (std::size_t t = 0; t + 1 < rows.size(); ++t) {
      if (options.pairing == Pairing::disjoint && t % 2 == 1) continue;
      if (rows.observations[t] == kMissing || rows.observations[t + 1] == kMissing) continue;
      const Vector left = VectorView(inverses.column(rows.actions[t], rows.observations[t]), n);
      const Vector right =
          VectorView(inverses.column(rows.actions[t + 1], rows.observations[t + 1]), n);
      const double weight = options.inverse_propensity ? 1.0 / rows.propensities[t + 1] : 1.0;
      const auto learned = static_cast<std::size_t>(timing == Timing::before ? rows.actions[t]
                                                                             : rows.actions[t + 1]);
      Eigen::Map<Matrix>(moments.sums.data() + learned * n * n, n, n) +=
          weight * left * right.transpose();
      ++moments.pairs[learned];
    }
  }
  return moments;
}

struct Setting {
  Timing timing = test::any_timing();
  LeftInverses inverses = LeftInverses(make_model(timing));
  FoldOptions options;
  std::vector<Trajectory> runs;

  Setting() {
    options.pairing =
        *rc::gen::arbitrary<bool>().as("disjoint") ? Pairing::disjoint : Pairing::overlapping;
    const auto lengths =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 400))
             .as("lengths of the runs");
    const double missing = *rc::gen::element(0.0, 0.2).as("missing");
    runs = make_log(lengths, missing, test::any_seed());
  }
};

// Dense and streaming, weighted or not: the total is the sum over pairs, and the counts are exact.
RC_GTEST_PROP(PairFolder, TotalIsTheSumOverPairs, ()) {
  Setting setting;
  setting.options.inverse_propensity = *rc::gen::arbitrary<bool>().as("weighted");
  setting.options.max_dense_cells = *rc::gen::element(0, 1 << 16).as("dense cells");
  const auto series = fold(setting.inverses, setting.timing, setting.options, setting.runs);
  const auto expected = naive(setting.inverses, setting.timing, setting.options, setting.runs);
  RC_PRE(expected.total_pairs() > 0);
  RC_ASSERT(relative_error(series.total(), expected) < 1e-9);
  RC_ASSERT(series.total().pairs == expected.pairs);
}

RC_GTEST_PROP(PairFolder, TotalIsTheProjectionOfAllCounts, ()) {
  const Setting setting;
  PairCounts counts(2, 4);
  for (const Trajectory& rows : setting.runs) {
    counts.add_run(rows.actions, rows.observations, setting.options.pairing);
  }
  RC_PRE(counts.total() > 0);
  const PairMoments expected = project(counts, setting.inverses, setting.timing);
  const auto series = fold(setting.inverses, setting.timing, setting.options, setting.runs);
  RC_ASSERT(relative_error(series.total(), expected) < 1e-9);
  RC_ASSERT(series.total().pairs == expected.pairs);
}

// To the bit, batch by batch, in all forms.
RC_GTEST_PROP(PairFolder, BlocksDoNotMatter, ()) {
  Setting setting;
  setting.options.inverse_propensity = *rc::gen::arbitrary<bool>().as("weighted");
  setting.options.max_dense_cells = *rc::gen::element(0, 1 << 16).as("dense cells");
  const auto whole = fold(setting.inverses, setting.timing, setting.options, setting.runs);
  PairFolder folder(setting.inverses, setting.timing, setting.options);
  Rng rng({test::any_seed(), 0, Role::test});
  for (const Trajectory& rows : setting.runs) {
    folder.start_run();
    for (std::size_t start = 0; start < rows.size();) {
      const std::size_t size = std::min<std::size_t>(1 + rng.below(70), rows.size() - start);
      folder.add(std::span(rows.actions).subspan(start, size),
                 std::span(rows.observations).subspan(start, size),
                 std::span(rows.propensities).subspan(start, size));
      start += size;
    }
  }
  const auto pieces = folder.finish();
  RC_ASSERT(pieces.batches == whole.batches);
  RC_ASSERT(pieces.rows == whole.rows && pieces.runs == whole.runs);
  RC_ASSERT(pieces.missing == whole.missing);
}

RC_GTEST_PROP(PairFolder, DenseAndStreamingFormsAgreeBatchByBatch, ()) {
  Setting setting;
  const auto dense = fold(setting.inverses, setting.timing, setting.options, setting.runs);
  setting.options.max_dense_cells = 63;  // one less than (2·4)²
  const auto streaming = fold(setting.inverses, setting.timing, setting.options, setting.runs);
  RC_ASSERT(dense.batches.size() == streaming.batches.size());
  for (std::size_t i = 0; i < dense.batches.size(); ++i) {
    RC_ASSERT(dense.batches[i].pairs == streaming.batches[i].pairs);
    RC_ASSERT(relative_error(dense.batches[i], streaming.batches[i]) < 1e-9);
  }
}

TEST(PairFolder, NoPairCrossesARunBorder) {
  const LeftInverses inverses(make_model(Timing::before));
  for (const Pairing pairing : {Pairing::disjoint, Pairing::overlapping}) {
    FoldOptions options;
    options.pairing = pairing;
    EXPECT_TRUE(
        fold(inverses, Timing::before, options, make_log({1, 1, 1, 1}, 0, 1)).batches.empty());
    const auto series = fold(inverses, Timing::before, options, make_log({3, 2, 3}, 0, 1));
    EXPECT_EQ(series.total().total_pairs(), pairing == Pairing::disjoint ? 3 : 5);
  }
}

TEST(PairFolder, KeepsBetween64And128EqualBatches) {
  const LeftInverses inverses(make_model(Timing::after));
  for (const std::int64_t dense_cells : {0, 1 << 16}) {
    FoldOptions options;
    options.max_dense_cells = dense_cells;
    for (const std::size_t rows : {2U, 65U, 66U, 8128U, 8192U, 8193U, 8194U, 100'000U, 262'145U}) {
      const auto runs = make_log({rows}, 0.0, 5);
      const auto series = fold(inverses, Timing::after, options, runs);
      const auto pairs = static_cast<std::int64_t>(rows) - 1;
      ASSERT_LE(series.batches.size(), 128U) << rows;
      const std::size_t fewest = pairs >= 64 * 64 ? 64 : 1;
      EXPECT_GE(series.batches.size(), fewest) << rows;
      const std::int64_t size = series.batches.front().total_pairs();
      for (std::size_t i = 0; i + 1 < series.batches.size(); ++i) {
        ASSERT_EQ(series.batches[i].total_pairs(), size);
      }
      EXPECT_LE(series.batches.back().total_pairs(), size);
      EXPECT_EQ(series.total().total_pairs(), pairs);
      EXPECT_LT(relative_error(series.total(), naive(inverses, Timing::after, options, runs)),
                1e-9);
    }
  }
}

// Batches are consecutive: the first half of the batches holds the first half of the rows.
TEST(PairFolder, BatchesFollowTheLog) {
  const LeftInverses inverses(make_model(Timing::before));
  const auto runs = make_log({16'385}, 0.0, 6);
  const auto series = fold(inverses, Timing::before, {}, runs);
  ASSERT_EQ(series.batches.size(), 64U);
  PairMoments half(3, 2);
  for (std::size_t i = 0; i < 32; ++i) half.add(series.batches[i]);
  Trajectory first = runs[0];
  first.actions.resize(8193);
  first.observations.resize(8193);
  EXPECT_LT(relative_error(half, naive(inverses, Timing::before, {}, {first})), 1e-9);
}

TEST(PairFolder, ReportsWhatItMet) {
  const LeftInverses inverses(make_model(Timing::before));
  PairFolder folder(inverses, Timing::before, {});
  const std::vector<Action> actions(3, Action{0});
  const std::vector<Observation> seen{Observation{0}, kMissing, Observation{1}};
  folder.add(actions, seen, std::vector{1.0, 0.25, 0.5});  // the first run needs no start_run
  folder.start_run();
  folder.add(actions, seen, std::vector{1.0, 1.0, 0.125});
  folder.add(actions, seen, {});
  const MomentSeries series = folder.finish();
  EXPECT_EQ(series.rows, 9);
  EXPECT_EQ(series.runs, 2);
  EXPECT_EQ(series.missing, 3);
  EXPECT_EQ(series.certain_actions, 3);
  EXPECT_EQ(series.smallest_propensity, 0.125);
  EXPECT_EQ(series.total().total_pairs(), 1);  // from one add to the next
}

TEST(PairFolder, IsEmptyAfterFinish) {
  const LeftInverses inverses(make_model(Timing::before));
  for (const Pairing pairing : {Pairing::disjoint, Pairing::overlapping}) {
    FoldOptions options;
    options.pairing = pairing;
    PairFolder folder(inverses, Timing::before, options);
    const auto log = make_log({20'001}, 0.1, 7);
    const auto feed = [&] {
      folder.add(log[0].actions, log[0].observations, log[0].propensities);
      return folder.finish();
    };
    const MomentSeries first = feed();
    const MomentSeries second = feed();
    EXPECT_EQ(first.batches, second.batches);
    EXPECT_EQ(second.rows, 20'001);
    EXPECT_EQ(second.runs, 1);
    EXPECT_EQ(second.missing, first.missing);
  }
}

// No rows have no propensities: a block or a file of nothing is nothing, weighted or not.
TEST(PairFolder, EmptyBlocksAreFine) {
  const LeftInverses inverses(make_model(Timing::after));
  for (const bool weighted : {false, true}) {
    FoldOptions options;
    options.inverse_propensity = weighted;
    PairFolder folder(inverses, Timing::after, options);
    EXPECT_NO_THROW(folder.add({}, {}, {})) << weighted;
    EXPECT_EQ(folder.finish().rows, 0);
  }
}

TEST(PairFolder, ErrorsNameTheSizes) {
  const LeftInverses inverses(make_model(Timing::after));
  FoldOptions options;
  options.inverse_propensity = true;
  PairFolder folder(inverses, Timing::after, options);
  const std::vector<Action> actions(2, Action{0});
  const std::vector<Observation> observations(2, Observation{0});
  EXPECT_THAT([&] { folder.add(actions, std::span(observations).first(1), {}); },
              ThrowsMessage<InvalidArgument>(StrEq("2 actions, 1 observations, 0 propensities")));
  EXPECT_THAT([&] { folder.add(actions, observations, std::vector{0.5}); },
              ThrowsMessage<InvalidArgument>(StrEq("2 actions, 2 observations, 1 propensities")));
  EXPECT_THAT([&] { folder.add(actions, observations, {}); },
              ThrowsMessage<InvalidArgument>(StrEq("pairs are to be weighted by propensities, and "
                                                   "there are none")));
}

TEST(MomentSeries, AppendKeepsOrderAndAddsUp) {
  const LeftInverses inverses(make_model(Timing::before));
  const auto log = make_log({500, 700}, 0.1, 8);
  MomentSeries series = fold(inverses, Timing::before, {}, {log[0]});
  const MomentSeries second = fold(inverses, Timing::before, {}, {log[1]});
  const std::size_t batches = series.batches.size();
  const MomentSeries first = series;
  series.append(second);
  ASSERT_EQ(series.batches.size(), batches + second.batches.size());
  EXPECT_EQ(series.batches.front(), first.batches.front());
  EXPECT_EQ(series.batches[batches], second.batches.front());
  EXPECT_EQ(series.rows, 1200);
  EXPECT_EQ(series.runs, 2);
  EXPECT_EQ(series.missing, first.missing + second.missing);
  EXPECT_EQ(series.certain_actions, first.certain_actions + second.certain_actions);
  EXPECT_EQ(series.smallest_propensity,
            std::min(first.smallest_propensity, second.smallest_propensity));
  EXPECT_THAT(
      [] { (void)MomentSeries{}.total(); },
      ThrowsMessage<InvalidArgument>(StrEq("a moment series without batches has no total")));
}

}  // namespace
}  // namespace oas
