#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "oas/core/contracts.hpp"

/// Numbers as bytes, for values that are saved and must come back to the bit. Integers and doubles
/// as a little-endian machine has them in memory; lists with their length in front.
namespace oas {

class ByteWriter {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <class T>
  void put_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  template <class T>
  void put_all(const std::vector<T>& values) {
    put_all(std::span<const T>(values));
  }
  void put_text(std::string_view text) { put_all(std::span<const char>(text)); }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Throws InvalidArgument when the bytes end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  [[nodiscard]] std::vector<T> get_all() {
    const auto count = get<std::uint64_t>();
    OAS_REQUIRE(count <= bytes_.size() / sizeof(T), "saved bytes are damaged: a list of {}", count);
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0)
      std::memcpy(values.data(), take(values.size() * sizeof(T)), values.size() * sizeof(T));
    return values;
  }
  /// The same of exactly so many.
  template <class T>
  [[nodiscard]] std::vector<T> get_all(std::size_t size) {
    std::vector<T> values = get_all<T>();
    OAS_REQUIRE(values.size() == size, "saved bytes are damaged: {} numbers instead of {}",
                values.size(), size);
    return values;
  }
  [[nodiscard]] std::string get_text() {
    const std::vector<char> text = get_all<char>();
    return {text.begin(), text.end()};
  }
  /// An integer from `low` to `high`.
  [[nodiscard]] std::int64_t get_integer(std::int64_t low, std::int64_t high) {
    const auto value = get<std::int64_t>();
    OAS_REQUIRE(value >= low && value <= high, "saved bytes are damaged: {} is not from {} to {}",
                value, low, high);
    return value;
  }

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  const char* take(std::size_t size) {
    OAS_REQUIRE(size <= bytes_.size(), "saved bytes end too early");
    const char* const first = bytes_.data();
    bytes_.remove_prefix(size);
    return first;
  }

  std::string_view bytes_;
};

}  // namespace oas
