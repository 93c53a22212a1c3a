#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace oas::detail {

/// Bytes whose line feeds are counted at once; their number fits into a byte, so that the sum is
/// quick.
inline constexpr std::ptrdiff_t kFeedsAtOnce = 128;

/// Line feeds among the kFeedsAtOnce bytes from `begin` on.
[[nodiscard]] inline std::size_t count_feeds(const char* begin) {
  std::uint8_t found = 0;
  for (std::ptrdiff_t i = 0; i < kFeedsAtOnce; ++i) {
    found = static_cast<std::uint8_t>(found + (begin[i] == '\n' ? 1 : 0));
  }
  return found;
}

/// Line feeds in [begin, end).
[[nodiscard]] inline std::int64_t count_feeds(const char* begin, const char* end) {
  std::int64_t count = 0;
  for (; end - begin >= kFeedsAtOnce; begin += kFeedsAtOnce) {
    count += static_cast<std::int64_t>(count_feeds(begin));
  }
  for (; begin != end; ++begin) count += *begin == '\n' ? 1 : 0;
  return count;
}

/// Behind the line feed that ends line `count` from `begin` on; null: there are fewer.
[[nodiscard]] inline const char* behind_lines(const char* begin, const char* end,
                                              std::size_t count) {
  while (end - begin >= kFeedsAtOnce) {
    const std::size_t found = count_feeds(begin);
    if (found >= count) break;
    count -= found;
    begin += kFeedsAtOnce;
  }
  for (; count > 0; --count) {
    const auto left = static_cast<std::size_t>(end - begin);
    const auto* const feed = static_cast<const char*>(std::memchr(begin, '\n', left));
    if (feed == nullptr) return nullptr;
    begin = feed + 1;
  }
  return begin;
}

}  // namespace oas::detail
