#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace oas::detail {

/// The names of the runs that a log has begun, so that one that comes back is noticed. Whole
/// numbers that count up one by one, which most logs have, take no memory; of other names a 64-bit
/// hash is kept, 11 to 22 bytes each, up to a limit. Two different names of n are taken for the
/// same with probability n²/2^65: 3e-8 for a million of them.
class RunNames {
 public:
  /// Names that do not count up; 2^24 slots of 8 bytes hold them.
  static constexpr std::size_t kMost = 12'000'000;

  /// `most` is smaller in tests.
  explicit RunNames(std::size_t most = kMost) : most_(most) {}

  /// False when the name is known already. Throws InvalidArgument beyond the limit.
  [[nodiscard]] bool add(std::string_view name);

  /// As if the numbers from the first one up to that one had been added, each in its turn, and no
  /// other. False, and nothing is done, where the names so far do not count up, or from above it.
  [[nodiscard]] bool count_up_to(std::uint64_t number);
  /// The number that is written so and in no other way; up to 18 digits.
  [[nodiscard]] static std::optional<std::uint64_t> number_of(std::string_view text);

  [[nodiscard]] std::size_t bytes() const { return slots_.size() * sizeof(std::uint64_t); }

 private:
  [[nodiscard]] std::size_t slot_of(std::uint64_t hash) const;
  [[nodiscard]] bool holds(std::uint64_t hash) const;
  [[nodiscard]] bool insert(std::uint64_t hash);
  void grow();

  std::size_t most_;
  std::vector<std::uint64_t> slots_;  // open addressing; 0 is free
  std::size_t hashes_ = 0;
  bool counts_up_ = false;
  std::uint64_t first_ = 0;  // the numbers first_ … last_ are known
  std::uint64_t last_ = 0;
};

}  // namespace oas::detail
