#include "oas/core/rng_batch.hpp"

#include "oas/core/contracts.hpp"
#include "oas/core/detail/philox.hpp"

namespace oas {

namespace {

// The state of some streams, the first of which has the key `key`, and where their draws go.
struct Streams {
  StreamKey key;
  std::uint64_t* positions;
  std::uint64_t* spares;
  std::uint64_t* first;
  std::uint64_t* second;
};

void draw_two(const Streams& streams, std::size_t k) {
  const std::uint64_t position = streams.positions[k];
  StreamKey key = streams.key;
  key.replication += static_cast<std::uint32_t>(k);
  const auto draws = detail::philox_block(key, (position + 1) / 2);
  const bool odd = position % 2 == 1;
  streams.first[k] = odd ? streams.spares[k] : draws[0];
  streams.second[k] = odd ? draws[0] : draws[1];
  streams.spares[k] = draws[1];
  streams.positions[k] = position + 2;
}

// Draws for as many streams as it can, a multiple of its width, and returns their number.
using DrawMany = std::size_t (*)(const Streams& streams, std::size_t count);

std::size_t draw_none(const Streams& /*streams*/, std::size_t /*count*/) { return 0; }

#if defined(__x86_64__)

__attribute__((target("avx2"))) std::size_t draw_avx2(const Streams& streams, std::size_t count) {
  constexpr int kRegisters = 4;
  constexpr std::size_t kWidth = 4 * kRegisters;
  const auto at = [](std::uint64_t* values) { return reinterpret_cast<__m256i*>(values); };
  const __m256i one = _mm256_set1_epi64x(1);
  std::size_t k = 0;
  for (; k + kWidth <= count; k += kWidth) {
    detail::PhiloxLanes<kRegisters> lanes;
    for (int r = 0; r < kRegisters; ++r) {
      const std::size_t i = k + 4 * static_cast<std::size_t>(r);
      const __m256i position = _mm256_loadu_si256(at(streams.positions + i));
      lanes.c0[r] = _mm256_srli_epi64(_mm256_add_epi64(position, one), 1);
      lanes.c1[r] = _mm256_srli_epi64(lanes.c0[r], 32);
      lanes.c2[r] =
          _mm256_add_epi64(_mm256_set1_epi64x(streams.key.replication + static_cast<long long>(i)),
                           _mm256_set_epi64x(3, 2, 1, 0));
      lanes.c3[r] = _mm256_set1_epi64x(static_cast<std::uint32_t>(streams.key.role));
    }
    lanes.run(streams.key.seed);
    for (int r = 0; r < kRegisters; ++r) {
      const std::size_t i = k + 4 * static_cast<std::size_t>(r);
      const __m256i position = _mm256_loadu_si256(at(streams.positions + i));
      const __m256i odd = _mm256_cmpeq_epi64(_mm256_and_si256(position, one), one);
      const __m256i spare = _mm256_loadu_si256(at(streams.spares + i));
      const __m256i low = lanes.even(r);
      const __m256i high = lanes.odd(r);
      _mm256_storeu_si256(at(streams.first + i), _mm256_blendv_epi8(low, spare, odd));
      _mm256_storeu_si256(at(streams.second + i), _mm256_blendv_epi8(high, low, odd));
      _mm256_storeu_si256(at(streams.spares + i), high);
      _mm256_storeu_si256(at(streams.positions + i),
                          _mm256_add_epi64(position, _mm256_add_epi64(one, one)));
    }
  }
  return k;
}

DrawMany choose_draw() { return __builtin_cpu_supports("avx2") ? draw_avx2 : draw_none; }

#else

DrawMany choose_draw() { return draw_none; }

#endif

}  // namespace

RngBatch::RngBatch(StreamKey first, std::size_t streams)
    : first_(first), positions_(streams), spares_(streams) {
  OAS_REQUIRE(std::uint64_t{first.replication} + streams <= std::uint64_t{1} << 32,
              "{} streams from replication {} on: replications are below 2^32", streams,
              first.replication);
}

void RngBatch::next_two(std::size_t begin, std::span<std::uint64_t> first,
                        std::span<std::uint64_t> second) {
  OAS_ASSERT(first.size() == second.size() && begin + first.size() <= size());
  static const DrawMany widest = choose_draw();
  const Streams streams{key(begin), positions_.data() + begin, spares_.data() + begin, first.data(),
                        second.data()};
  for (std::size_t k = widest(streams, first.size()); k < first.size(); ++k) draw_two(streams, k);
}

}  // namespace oas
