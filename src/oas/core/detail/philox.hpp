#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>

#include "oas/core/rng.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/// Philox 4x32-10 as Rng and RngBatch use it: block b of a stream holds its draws 2b and 2b + 1,
/// words (1,0) and (3,2).
namespace oas::detail {

inline std::array<std::uint64_t, 2> philox_block(const StreamKey& key, std::uint64_t block) {
  const auto words = r123::Philox4x32{}(
      {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), key.replication,
        static_cast<std::uint32_t>(key.role)}},
      {{static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}});
  return {(std::uint64_t{words[1]} << 32) | words[0], (std::uint64_t{words[3]} << 32) | words[2]};
}

#if defined(__x86_64__)

/// Philox on four counters per register, one 32-bit word in each 64-bit lane; independent registers
/// hide the latency of the multiplication. The upper halves of the lanes hold rubbish between
/// rounds: the multiplication ignores them and the end masks them.
template <int Registers>
struct PhiloxLanes {
  __m256i c0[Registers], c1[Registers], c2[Registers], c3[Registers];

  __attribute__((target("avx2"), always_inline)) void run(std::uint64_t seed) {
    const __m256i multiplier0 = _mm256_set1_epi64x(PHILOX_M4x32_0);
    const __m256i multiplier1 = _mm256_set1_epi64x(PHILOX_M4x32_1);
    auto k0 = static_cast<std::uint32_t>(seed);
    auto k1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const __m256i key0 = _mm256_set1_epi64x(k0);
      const __m256i key1 = _mm256_set1_epi64x(k1);
      for (int r = 0; r < Registers; ++r) {
        const __m256i p0 = _mm256_mul_epu32(multiplier0, c0[r]);
        const __m256i p1 = _mm256_mul_epu32(multiplier1, c2[r]);
        c0[r] = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(c1[r], key0));
        c2[r] = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(c3[r], key1));
        c1[r] = p1;
        c3[r] = p0;
      }
      k0 += PHILOX_W32_0;
      k1 += PHILOX_W32_1;
    }
  }

  /// The draws 2b of the four blocks b of a register, and the draws 2b + 1.
  [[nodiscard]] __attribute__((target("avx2"), always_inline)) __m256i even(int r) const {
    return join(c1[r], c0[r]);
  }
  [[nodiscard]] __attribute__((target("avx2"), always_inline)) __m256i odd(int r) const {
    return join(c3[r], c2[r]);
  }

 private:
  __attribute__((target("avx2"), always_inline)) static __m256i join(__m256i high, __m256i low) {
    const __m256i low_half = _mm256_set1_epi64x(0xffffffffLL);
    return _mm256_or_si256(_mm256_slli_epi64(high, 32), _mm256_and_si256(low, low_half));
  }
};

#endif

}  // namespace oas::detail
