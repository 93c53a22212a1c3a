#include "oas/core/rng.hpp"

#include "oas/core/detail/philox.hpp"

namespace oas {

namespace {

// Writes blocks first, first+1, … of a stream, two 64-bit numbers a block.
using Fill = void (*)(std::uint64_t first, const StreamKey& key, std::uint64_t* out, int blocks);

void fill_portable(std::uint64_t first, const StreamKey& key, std::uint64_t* out, int blocks) {
  for (int i = 0; i < blocks; ++i) {
    const auto draws = detail::philox_block(key, first + static_cast<std::uint64_t>(i));
    out[2 * i] = draws[0];
    out[2 * i + 1] = draws[1];
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void fill_avx2(std::uint64_t first, const StreamKey& key,
                                               std::uint64_t* out, int blocks) {
  constexpr int kRegisters = 4;
  for (int start = 0; start < blocks; start += 4 * kRegisters) {
    detail::PhiloxLanes<kRegisters> lanes;
    for (int r = 0; r < kRegisters; ++r) {
      const auto block = static_cast<long long>(first + static_cast<std::uint64_t>(start + 4 * r));
      const __m256i counter =
          _mm256_add_epi64(_mm256_set1_epi64x(block), _mm256_set_epi64x(3, 2, 1, 0));
      lanes.c0[r] = counter;
      lanes.c1[r] = _mm256_srli_epi64(counter, 32);
      lanes.c2[r] = _mm256_set1_epi64x(key.replication);
      lanes.c3[r] = _mm256_set1_epi64x(static_cast<std::uint32_t>(key.role));
    }
    lanes.run(key.seed);
    for (int r = 0; r < kRegisters; ++r) {
      const __m256i even = lanes.even(r);
      const __m256i odd = lanes.odd(r);
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
