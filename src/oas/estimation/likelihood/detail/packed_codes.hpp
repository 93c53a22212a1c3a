#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oas::detail {

/// A growing column of small integers below a known limit, 1, 2 or 4 bytes each.
class PackedCodes {
 public:
  explicit PackedCodes(std::uint64_t limit)
      : width_(limit <= (1U << 8)    ? 1
               : limit <= (1U << 16) ? 2
                                     : 4) {}

  void push_back(std::uint32_t code) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + width_);
    for (std::size_t i = 0; i < width_; ++i) {
      bytes_[end + i] = static_cast<std::uint8_t>(code >> (8 * i));
    }
  }

  [[nodiscard]] std::size_t size() const { return bytes_.size() / width_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::size_t width() const { return width_; }  ///< bytes of a code
  void reserve(std::size_t codes) { bytes_.reserve(codes * width_); }
  void clear() { bytes_.clear(); }

  [[nodiscard]] std::uint32_t operator[](std::size_t index) const {
    std::uint32_t code = 0;
    unpack(index, 1, &code);
    return code;
  }

  /// Codes first … first+count-1 into `out`.
  void unpack(std::size_t first, std::size_t count, std::uint32_t* out) const {
    const std::uint8_t* from = bytes_.data() + first * width_;
    if (width_ == 1) {
      for (std::size_t i = 0; i < count; ++i) out[i] = from[i];
    } else if (width_ == 2) {
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = from[2 * i] | static_cast<std::uint32_t>(from[2 * i + 1]) << 8;
      }
    } else {
      for (std::size_t i = 0; i < count; ++i, from += 4) {
        out[i] = from[0] | static_cast<std::uint32_t>(from[1]) << 8 |
                 static_cast<std::uint32_t>(from[2]) << 16 |
                 static_cast<std::uint32_t>(from[3]) << 24;
      }
    }
  }

 private:
  std::size_t width_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace oas::detail
