#include "oas/core/rng.hpp"

#include <Random123/philox.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace oas {

namespace {

// Writes blocks first, first+1, … of a stream, two 64-bit numbers a block: words (1,0) and (3,2).
using Fill = void (*)(std::uint64_t first, const StreamKey& key, std::uint64_t* out, int blocks);

void fill_portable(std::uint64_t first, const StreamKey& key, std::uint64_t* out, int blocks) {
  const r123::Philox4x32::key_type philox_key = {
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}};
  for (int i = 0; i < blocks; ++i) {
    const std::uint64_t block = first + static_cast<std::uint64_t>(i);
    const auto words = r123::Philox4x32{}(
        {{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
          key.replication, static_cast<std::uint32_t>(key.role)}},
        philox_key);
    out[2 * i] = (std::uint64_t{words[1]} << 32) | words[0];
    out[2 * i + 1] = (std::uint64_t{words[3]} << 32) | words[2];
  }
}

#if defined(__x86_64__)

// Philox on four counters per register, one 32-bit word in each 64-bit lane. The upper halves of
// the lanes hold rubbish between rounds: the multiplication ignores them and the end masks them.
__attribute__((target("avx2"))) void fill_avx2(std::uint64_t first, const StreamKey& key,
                                               std::uint64_t* out, int blocks) {
  constexpr int kRegisters = 4;  // independent counters hide the latency of the multiplication
  const __m256i multiplier0 = _mm256_set1_epi64x(PHILOX_M4x32_0);
  const __m256i multiplier1 = _mm256_set1_epi64x(PHILOX_M4x32_1);
  const __m256i low_half = _mm256_set1_epi64x(0xffffffffLL);
  for (int start = 0; start < blocks; start += 4 * kRegisters) {
    __m256i c0[kRegisters], c1[kRegisters], c2[kRegisters], c3[kRegisters];
    for (int r = 0; r < kRegisters; ++r) {
      const auto block = static_cast<long long>(first + static_cast<std::uint64_t>(start + 4 * r));
      const __m256i counter =
          _mm256_add_epi64(_mm256_set1_epi64x(block), _mm256_set_epi64x(3, 2, 1, 0));
      c0[r] = counter;
      c1[r] = _mm256_srli_epi64(counter, 32);
      c2[r] = _mm256_set1_epi64x(key.replication);
      c3[r] = _mm256_set1_epi64x(static_cast<std::uint32_t>(key.role));
    }
    auto k0 = static_cast<std::uint32_t>(key.seed);
    auto k1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const __m256i key0 = _mm256_set1_epi64x(k0);
      const __m256i key1 = _mm256_set1_epi64x(k1);
      for (int r = 0; r < kRegisters; ++r) {
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
    for (int r = 0; r < kRegisters; ++r) {
      const __m256i even =
          _mm256_or_si256(_mm256_slli_epi64(c1[r], 32), _mm256_and_si256(c0[r], low_half));
      const __m256i odd =
          _mm256_or_si256(_mm256_slli_epi64(c3[r], 32), _mm256_and_si256(c2[r], low_half));
      const __m256i lower = _mm256_unpacklo_epi64(even, odd);  // blocks 0 and 2
      const __m256i upper = _mm256_unpackhi_epi64(even, odd);  // blocks 1 and 3
      auto* target = reinterpret_cast<__m256i*>(out + 2 * (start + 4 * r));
      _mm256_storeu_si256(target, _mm256_permute2x128_si256(lower, upper, 0x20));
      _mm256_storeu_si256(target + 1, _mm256_permute2x128_si256(lower, upper, 0x31));
    }
  }
}

Fill choose_fill() { return __builtin_cpu_supports("avx2") ? fill_avx2 : fill_portable; }

#else

Fill choose_fill() { return fill_portable; }

#endif

void fill(std::uint64_t first, const StreamKey& key, std::uint64_t* out, int blocks) {
  static const Fill widest = choose_fill();
  widest(first, key, out, blocks);
}

}  // namespace

Rng::Rng(StreamKey key, std::uint64_t position) : key_(key) {
  static_assert(kBatch % 32 == 0);  // whole registers of the widest fill
  batch_start_ = position - position % kBatch;
  fill(batch_start_ / 2, key_, buffer_.data(), kBatch / 2);
  next_ = static_cast<std::uint32_t>(position % kBatch);
}

void Rng::refill() {
  batch_start_ += kBatch;
  fill(batch_start_ / 2, key_, buffer_.data(), kBatch / 2);
  next_ = 0;
}

std::uint32_t Rng::below(std::uint32_t n) {
  // Lemire (2019): the high word of a 32x32 product; reject the few low words that would bias it.
  std::uint64_t product = (bits() >> 32) * n;
  auto low = static_cast<std::uint32_t>(product);
  if (low < n) {
    const std::uint32_t threshold = (0U - n) % n;
    while (low < threshold) {
      product = (bits() >> 32) * n;
      low = static_cast<std::uint32_t>(product);
    }
  }
  return static_cast<std::uint32_t>(product >> 32);
}

}  // namespace oas
