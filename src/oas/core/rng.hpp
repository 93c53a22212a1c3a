#pragma once

#include <array>
#include <cstdint>

namespace oas {

/// What a stream of random numbers is for. Part of the stream's key, so that, for instance, the
/// environment draws the same numbers whichever agent plays in it. Values are stable: they enter
/// the bytes of every result.
enum class Role : std::uint32_t {
  environment = 0,
  agent = 1,
  problem = 2,
  policy = 3,
  bootstrap = 4,
  test = 5,
  estimation = 6,
};

/// Names one stream. Different keys never overlap: seed is Philox's key, replication and role are
/// the upper half of its counter.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint32_t replication = 0;
  Role role = Role::environment;

  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

/// 64 random bits as a number of [0, 1), a multiple of 2^-53.
[[nodiscard]] constexpr double uniform_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// A counter-based random stream: Philox 4x32-10 (Salmon et al., SC 2011), as in Random123 and as a
/// GPU would compute it. Position p of a stream depends on (key, p) only, so streams are
/// independent of threads and ranks and can be saved as (key, position). Numbers are made in
/// batches with the widest integer instructions of the machine; the values are the same on every
/// machine. Length 2^65 draws of 64 bits.
class Rng {
 public:
  explicit Rng(StreamKey key, std::uint64_t position = 0);

  /// 64 random bits.
  std::uint64_t bits() {
    if (next_ == kBatch) [[unlikely]]
      refill();
    return buffer_[next_++];
  }

  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform() { return uniform_of(bits()); }

  /// Uniform on {0, …, n-1}, n >= 1, by Lemire's multiplication with rejection (exact).
  std::uint32_t below(std::uint32_t n);

  [[nodiscard]] const StreamKey& key() const { return key_; }

  /// Number of 64-bit draws made so far; Rng(key(), position()) continues from here.
  [[nodiscard]] std::uint64_t position() const { return batch_start_ + next_; }

 private:
  static constexpr std::uint32_t kBatch = 256;

  void refill();

  StreamKey key_;
  std::uint64_t batch_start_ = 0;  // position of buffer_[0]
  std::uint32_t next_ = 0;
  std::array<std::uint64_t, kBatch> buffer_;
};

}  // namespace oas
