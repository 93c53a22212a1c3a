#include "oas/counts/triple_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/contracts.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

constexpr int kTripleActions = 2;
constexpr int kTripleObservations = 3;

std::int64_t at(const TripleFolder& folder, int a1, int o1, int a2, int o2, int a3, int o3) {
  return folder.counts().block(a2 * kTripleActions + a3)[static_cast<std::size_t>(
      ((a1 * kTripleObservations + o1) * kTripleObservations + o2) * kTripleObservations + o3)];
}

TEST(TripleFolder, CountsEveryThreeConsecutiveRows) {
  const Trajectory log =
      test::random_rows_of_log(kTripleActions, kTripleObservations, 2000, 0.1, 1);
  TripleFolder folder(kTripleActions, kTripleObservations);
  folder.add(log.actions, log.observations);
  TripleFolder expected(kTripleActions, kTripleObservations);
  std::vector<std::int64_t> cells(folder.counts().values().size(), 0);
  std::int64_t triples = 0;
  for (std::size_t t = 2; t < log.size(); ++t) {
    const auto& o = log.observations;
    const auto& a = log.actions;
    if (o[t] == kMissing || o[t - 1] == kMissing || o[t - 2] == kMissing) continue;
    const int block = a[t - 1] * kTripleActions + a[t];
    const int first = a[t - 2] * kTripleObservations + o[t - 2];
    ++cells[static_cast<std::size_t>(
        ((block * kTripleActions * kTripleObservations + first) * kTripleObservations + o[t - 1]) *
            kTripleObservations +
        o[t])];
    ++triples;
  }
  expected.restore(cells, {});
  EXPECT_EQ(folder.counts(), expected.counts());
  EXPECT_EQ(folder.counts().total(), triples);
  EXPECT_EQ(folder.rows(), 2000);
  EXPECT_GT(folder.missing(), 0);
}

TEST(TripleFolder, NoTripleCrossesRuns) {
  TripleFolder folder(kTripleActions, kTripleObservations);
  folder.add(Action{0}, Observation{1});
  folder.add(Action{1}, Observation{2});
  folder.start_run();
  folder.add(Action{0}, Observation{0});
  folder.add(Action{1}, Observation{1});
  EXPECT_EQ(folder.counts().total(), 0);
  folder.add(Action{1}, Observation{2});
  EXPECT_EQ(folder.counts().total(), 1);
  EXPECT_EQ(at(folder, 0, 0, 1, 1, 1, 2), 1);
  EXPECT_EQ(folder.runs(), 2);
}

TEST(TripleFolder, MergesAndGoesOnWhereItWasSaved) {
  const Trajectory log =
      test::random_rows_of_log(kTripleActions, kTripleObservations, 500, 0.05, 2);
  const std::span<const Action> actions(log.actions);
  const std::span<const Observation> observations(log.observations);
  TripleFolder whole(kTripleActions, kTripleObservations);
  whole.add(actions, observations);
  for (const std::size_t cut : {1, 2, 77, 250}) {
    TripleFolder first(kTripleActions, kTripleObservations);
    first.add(actions.first(cut), observations.first(cut));
    TripleFolder second(kTripleActions, kTripleObservations);
    second.restore(first.counts().values(), first.pending());
    second.add(actions.subspan(cut), observations.subspan(cut));
    EXPECT_EQ(second.counts(), whole.counts()) << cut;
  }
  TripleFolder twice(kTripleActions, kTripleObservations);
  twice.merge(whole);
  twice.merge(whole);
  EXPECT_EQ(twice.counts().total(), 2 * whole.counts().total());
  EXPECT_EQ(twice.rows(), 1000);
}

TEST(TripleFolder, RefusesWhatItCannotHold) {
  try {
    const TripleFolder folder(30, 30);
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("too many to count"));
  }
  EXPECT_THROW(TripleCounts(0, {1, 1, 1}), InvalidArgument);
  TripleCounts small(1, {2, 2, 2});
  EXPECT_THROW(small.merge(TripleCounts(1, {2, 2, 3})), InvalidArgument);
  EXPECT_THROW(small.set_values(std::vector<std::int64_t>(7)), InvalidArgument);
  TripleFolder folder(kTripleActions, kTripleObservations);
  EXPECT_THROW(folder.restore(folder.counts().values(), std::vector<int>{0, 7}), InvalidArgument);
  EXPECT_THROW(folder.restore(folder.counts().values(), std::vector<int>{0}), InvalidArgument);
}

}  // namespace
}  // namespace oas
