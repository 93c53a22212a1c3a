#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"

namespace oas {

/// Many streams side by side: stream k is (seed, first replication + k, role) and gives what Rng
/// gives, at a position of its own. Two draws of every stream cost one block of Philox each, made
/// with the widest integer instructions of the machine. Nothing is allocated after construction.
class RngBatch {
 public:
  /// `first` is the key of stream 0. Throws InvalidArgument when replications would pass 2^32.
  RngBatch(StreamKey first, std::size_t streams);

  [[nodiscard]] std::size_t size() const { return positions_.size(); }
  [[nodiscard]] StreamKey key(std::size_t stream) const {
    return {first_.seed, first_.replication + static_cast<std::uint32_t>(stream), first_.role};
  }
  /// As Rng::position().
  [[nodiscard]] std::uint64_t position(std::size_t stream) const { return positions_[stream]; }

  /// The next two draws of the streams begin, begin + 1, …: as many as `first` has elements;
  /// `second` has as many.
  void next_two(std::size_t begin, std::span<std::uint64_t> first, std::span<std::uint64_t> second);
  /// The second of the last two draws of a stream was not used: the next two begin with it.
  void put_back(std::size_t stream) { --positions_[stream]; }

 private:
  StreamKey first_;
  std::vector<std::uint64_t> positions_;
  // Draw 2b + 1 of the last block b: that at positions_ where this is odd.
  std::vector<std::uint64_t> spares_;
};

}  // namespace oas
