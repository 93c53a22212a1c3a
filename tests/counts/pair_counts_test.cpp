#include "oas/counts/pair_counts.hpp"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

constexpr Pairing kPairings[] = {Pairing::disjoint, Pairing::overlapping};

auto throws(const char* message) { return ThrowsMessage<InvalidArgument>(StrEq(message)); }

using Cells = std::map<std::array<int, 4>, std::int64_t>;

// Straight from the words: rows (1,2), (3,4), … or every row with its successor.
Cells naive(const Trajectory& rows, Pairing pairing) {
  Cells cells;
  for (std::size_t second = 1; second < rows.size(); ++second) {
    const std::size_t first = second - 1;
    const bool is_pair = pairing == Pairing::overlapping || first % 2 == 0;
    if (!is_pair || rows.observations[first] == kMissing || rows.observations[second] == kMissing) {
      continue;
    }
    ++cells[{rows.actions[first], rows.observations[first], rows.actions[second],
             rows.observations[second]}];
  }
  return cells;
}

bool equal(const PairCounts& counts, const Cells& cells) {
  std::int64_t total = 0;
  for (int a = 0; a < counts.num_actions(); ++a) {
    for (int b = 0; b < counts.num_actions(); ++b) {
      for (int o = 0; o < counts.num_observations(); ++o) {
        for (int p = 0; p < counts.num_observations(); ++p) {
          const auto found = cells.find({a, o, b, p});
          const std::int64_t expected = found == cells.end() ? 0 : found->second;
          if (counts(Action{a}, Action{b}, Observation{o}, Observation{p}) != expected)
            return false;
          total += expected;
        }
      }
    }
  }
  return total == counts.total();
}

RC_GTEST_PROP(PairCounts, EqualTheNaiveCount, ()) {
  const int num_actions = *rc::gen::inRange(1, 5).as("actions");
  const int num_observations = *rc::gen::inRange(1, 6).as("observations");
  const auto length = static_cast<std::size_t>(*rc::gen::inRange(0, 60).as("rows"));
  const double missing = *rc::gen::element(0.0, 0.3).as("missing");
  const Pairing pairing = kPairings[*rc::gen::inRange(0, 2).as("pairing (1: overlapping)")];
  const Trajectory rows =
      test::random_rows_of_log(num_actions, num_observations, length, missing, test::any_seed());
  PairCounts counts(num_actions, num_observations);
  counts.add_run(rows.actions, rows.observations, pairing);
  RC_ASSERT(equal(counts, naive(rows, pairing)));
}

TEST(PairCounts, ByHand) {
  const std::vector<Action> actions{Action{0}, Action{1}, Action{0}, Action{1}, Action{1}};
  const std::vector<Observation> observations{Observation{2}, Observation{0}, kMissing,
                                              Observation{1}, Observation{1}};
  PairCounts overlapping(2, 3);
  overlapping.add_run(actions, observations, Pairing::overlapping);
  EXPECT_EQ(overlapping.total(), 2);
  EXPECT_EQ(overlapping(Action{0}, Action{1}, Observation{2}, Observation{0}), 1);
  EXPECT_EQ(overlapping(Action{1}, Action{1}, Observation{1}, Observation{1}), 1);
  PairCounts disjoint(2, 3);  // rows (0,1) and (2,3); row 2 is missing, row 4 has no partner
  disjoint.add_run(actions, observations, Pairing::disjoint);
  EXPECT_EQ(disjoint.total(), 1);
  EXPECT_EQ(disjoint(Action{0}, Action{1}, Observation{2}, Observation{0}), 1);
}

TEST(PairCounts, RunsOfNoneOrOneRowHaveNoPair) {
  for (const Pairing pairing : kPairings) {
    PairCounts counts(2, 2);
    counts.add_run({}, {}, pairing);
    counts.add_run(std::vector{Action{1}}, std::vector{Observation{1}}, pairing);
    EXPECT_EQ(counts, PairCounts(2, 2));
  }
}

// A monoid to the bit: any grouping and any order.
RC_GTEST_PROP(PairCounts, MergeInAnyOrder, ()) {
  const std::uint64_t seed = test::any_seed();
  std::vector<PairCounts> parts;
  PairCounts together(3, 4);
  for (std::uint64_t run = 0; run < 3; ++run) {
    const Trajectory rows = test::random_rows_of_log(3, 4, 50, 0.1, seed + run);
    parts.emplace_back(3, 4).add_run(rows.actions, rows.observations, Pairing::overlapping);
    together.add_run(rows.actions, rows.observations, Pairing::overlapping);
  }
  PairCounts left = parts[0];
  left.merge(parts[1]);
  left.merge(parts[2]);
  PairCounts tail = parts[1];
  tail.merge(parts[2]);
  PairCounts right = parts[0];
  right.merge(tail);
  PairCounts backwards = parts[2];
  backwards.merge(parts[1]);
  backwards.merge(parts[0]);
  RC_ASSERT(left == together);
  RC_ASSERT(right == together);
  RC_ASSERT(backwards == together);
  PairCounts neutral(3, 4);
  neutral.merge(together);
  RC_ASSERT(neutral == together);
}

TEST(PairCounts, ClearGivesZero) {
  PairCounts counts(2, 2);
  counts.add(Action{1}, Observation{0}, Action{0}, Observation{1});
  EXPECT_EQ(counts(Action{1}, Action{0}, Observation{0}, Observation{1}), 1);
  EXPECT_NE(counts, PairCounts(2, 2));
  counts.clear();
  EXPECT_EQ(counts, PairCounts(2, 2));
  EXPECT_EQ(counts.total(), 0);
}

TEST(PairCounts, ErrorsNameRowAndValue) {
  PairCounts counts(2, 3);
  const auto adding = [&](std::vector<int> actions, std::vector<int> observations) {
    return [&counts, actions, observations] {
      counts.add_run(std::vector<Action>(actions.begin(), actions.end()),
                     std::vector<Observation>(observations.begin(), observations.end()),
                     Pairing::overlapping);
    };
  };
  EXPECT_THAT(adding({0, 1}, {0}), throws("2 actions and 1 observations"));
  EXPECT_THAT(adding({0, 2}, {0, 0}), throws("row 1: action 2 of 2"));
  EXPECT_THAT(adding({0, -1}, {0, 0}), throws("row 1: action -1 of 2"));
  EXPECT_THAT(adding({0, 0, 0}, {0, 1, 3}), throws("row 2: observation 3 of 3"));
  EXPECT_THAT(adding({0}, {-2}), throws("row 0: observation -2 of 3"));
  EXPECT_EQ(counts, PairCounts(2, 3)) << "a bad run leaves no trace";
  EXPECT_NO_THROW(adding({0, 1}, {2, -1})());
}

TEST(PairCounts, ErrorsNameTheSizes) {
  EXPECT_THAT([] { PairCounts(0, 3); }, throws("counts for 0 actions, 3 observations"));
  EXPECT_THAT([] { PairCounts(3, -1); }, throws("counts for 3 actions, -1 observations"));
  EXPECT_THAT([] { PairCounts(1000, 1000); },
              throws("1000000 action-observation symbols are too many to count in pairs"));
  EXPECT_THAT([] { PairCounts(2, 3).merge(PairCounts(3, 2)); },
              throws("counts for 2 actions, 3 observations cannot take in counts for 3 and 2"));
}

}  // namespace
}  // namespace oas
