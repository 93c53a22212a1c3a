#include "oas/core/rng.hpp"

#include <Random123/philox.h>
#include <gmock/gmock.h>

#include <set>
#include <utility>
#include <vector>

#include "support/property.hpp"

namespace oas {
namespace {

constexpr StreamKey kKey{0x0123456789abcdefULL, 42, Role::test};

// Draw `position` of a stream by Random123's portable code: two draws a block, words (1,0), (3,2).
std::uint64_t reference(const StreamKey& key, std::uint64_t position) {
  const std::uint64_t block = position / 2;
  const auto words = r123::Philox4x32{}(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), key.replication,
        static_cast<std::uint32_t>(key.role)}},
      {{static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}});
  const std::size_t low = position % 2 == 0 ? 0 : 2;
  return (std::uint64_t{words[low + 1]} << 32) | words[low];
}

// The vectors of Random123's kat_vectors for philox4x32 with 10 rounds.
TEST(Philox, ReferenceGivesTheKnownAnswers) {
  using Philox = r123::Philox4x32;
  EXPECT_EQ(Philox{}({{0, 0, 0, 0}}, {{0, 0}}),
            (Philox::ctr_type{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  EXPECT_EQ(
      Philox{}({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, {{0xffffffff, 0xffffffff}}),
      (Philox::ctr_type{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  EXPECT_EQ(
      Philox{}({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}}),
      (Philox::ctr_type{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST(Philox, ZeroKeyGivesTheKnownAnswer) {
  Rng rng({0, 0, Role::environment});
  EXPECT_EQ(rng.bits(), 0xe169c58d6627e8d5ULL);
  EXPECT_EQ(rng.bits(), 0x9b00dbd8bc57ac4cULL);
}

// Role values are part of every stored result.
TEST(Philox, RolesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(Role::environment), 0);
  EXPECT_EQ(static_cast<int>(Role::agent), 1);
  EXPECT_EQ(static_cast<int>(Role::problem), 2);
  EXPECT_EQ(static_cast<int>(Role::policy), 3);
  EXPECT_EQ(static_cast<int>(Role::bootstrap), 4);
  EXPECT_EQ(static_cast<int>(Role::test), 5);
}

// Whatever instructions this machine has, and wherever the stream starts, several batches long.
RC_GTEST_PROP(Philox, EqualsTheReferenceForAnyKeyAndPosition, ()) {
  const StreamKey key{*rc::gen::arbitrary<std::uint64_t>().as("seed") * 0x9e3779b97f4a7c15ULL,
                      *rc::gen::arbitrary<std::uint32_t>().as("replication"),
                      static_cast<Role>(*rc::gen::arbitrary<std::uint32_t>().as("role"))};
  const auto shift = *rc::gen::inRange(0, 62).as("position has so many bits");
  const std::uint64_t position =
      *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << shift).as("position");
  Rng rng(key, position);
  for (std::uint64_t i = 0; i < 700; ++i) RC_ASSERT(rng.bits() == reference(key, position + i));
}

TEST(Philox, CarriesIntoTheUpperWordOfTheCounter) {
  const std::uint64_t start = (std::uint64_t{1} << 33) - 300;  // block 2^32 comes after 300 draws
  Rng rng(kKey, start);
  for (std::uint64_t i = 0; i < 600; ++i) ASSERT_EQ(rng.bits(), reference(kKey, start + i)) << i;
}

TEST(Position, CountsDrawsAndRestoresAtEveryPoint) {
  constexpr std::uint64_t kDraws = 1100;
  std::vector<std::uint64_t> stream;
  Rng rng(kKey);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    ASSERT_EQ(rng.position(), i);
    stream.push_back(rng.bits());
  }
  for (std::uint64_t i = 0; i + 2 < kDraws; ++i) {
    Rng restored(kKey, i);
    ASSERT_EQ(restored.position(), i);
    ASSERT_EQ(restored.bits(), stream[i]);
    ASSERT_EQ(restored.bits(), stream[i + 1]);
    ASSERT_EQ(restored.position(), i + 2);
  }
}

TEST(Position, RestoresAStreamAfterDrawsOfAllKinds) {
  Rng rng(kKey);
  for (int i = 0; i < 1000; ++i) {
    rng.uniform();
    rng.below(3U << 30);  // rejects a quarter of its draws
    rng.bits();
  }
  EXPECT_GT(rng.position(), 3000U);
  Rng restored(rng.key(), rng.position());
  for (int i = 0; i < 600; ++i) ASSERT_EQ(restored.bits(), rng.bits());
}

TEST(Streams, EveryPartOfTheKeyMatters) {
  std::vector<StreamKey> keys = {kKey};
  keys.push_back({kKey.seed ^ 1, kKey.replication, kKey.role});
  keys.push_back({kKey.seed ^ (std::uint64_t{1} << 63), kKey.replication, kKey.role});
  keys.push_back({kKey.seed, kKey.replication ^ 1, kKey.role});
  keys.push_back({kKey.seed, kKey.replication ^ (1U << 31), kKey.role});
  keys.push_back({kKey.seed, kKey.replication, Role::agent});
  std::set<std::uint64_t> seen;
  for (const StreamKey& key : keys) {
    Rng rng(key);
    EXPECT_EQ(rng.key(), key);
    for (int i = 0; i < 1000; ++i) seen.insert(rng.bits());
  }
  EXPECT_EQ(seen.size(), keys.size() * 1000);
}

TEST(Streams, CopiesGoTheirOwnWay) {
  Rng first(kKey, 250);
  Rng second = first;
  for (int i = 0; i < 20; ++i) first.bits();
  EXPECT_EQ(second.position(), 250U);
  EXPECT_EQ(second.bits(), reference(kKey, 250));
}

TEST(Uniform, IsTheUpper53Bits) {
  Rng rng(kKey);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double u = rng.uniform();
    ASSERT_EQ(u, static_cast<double>(reference(kKey, i) >> 11) / 9007199254740992.0);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
  }
}

TEST(Below, StaysBelowForEverySize) {
  Rng rng(kKey);
  for (std::uint32_t n = 1; n < 2000; ++n) ASSERT_LT(rng.below(n), n);
  for (int shift = 1; shift < 32; ++shift) {
    for (const std::uint32_t n : {(1U << shift) - 1, 1U << shift, (1U << shift) + 1}) {
      ASSERT_LT(rng.below(n), n);
    }
  }
  for (int i = 0; i < 1000; ++i) ASSERT_LT(rng.below(0xffffffffU), 0xffffffffU);
}

TEST(Below, OneIsAlwaysZeroAndCostsOneDraw) {
  Rng rng(kKey);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(rng.below(1), 0U);
  EXPECT_EQ(rng.position(), 100U);
}

TEST(Below, PowersOfTwoTakeTheTopBits) {
  Rng rng(kKey);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(rng.below(1U << 16), reference(kKey, i) >> 48);
  }
}

// Exactness: exactly (2^32 mod n) of the 2^32 values of the word are rejected, so that each result
// has the same number of them; for n = 3·2^30 that is every fourth draw.
TEST(Below, RejectsExactlyTheExcess) {
  constexpr std::uint32_t kSize = 3U << 30;
  Rng rng(kKey);
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t position = rng.position();
    const std::uint32_t drawn = rng.below(kSize);
    // floor(3x/4) over x; of x = 4k and 4k+1, which share a result, only the second is kept.
    while ((reference(kKey, position) >> 32) % 4 == 0) ++position;
    const std::uint64_t word = reference(kKey, position) >> 32;
    ASSERT_EQ(drawn, word * 3 / 4);
    ASSERT_EQ(rng.position(), position + 1);
  }
}

}  // namespace
}  // namespace oas
