#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

/// 64 bits that tell whether two values, or two states of a file, are the same. They find what
/// chance changes (a flipped bit, a lost row); they do not stop anybody from forging.
namespace oas {

/// FNV-1a over what is added, in order.
class Fingerprint {
 public:
  void add_bytes(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    add_bytes({reinterpret_cast<const char*>(&value), sizeof(T)});
  }
  template <class Range>
  void add_all(const Range& values) {
    for (const auto& value : values) add(value);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

[[nodiscard]] inline std::uint64_t fingerprint(std::string_view text) {
  Fingerprint print;
  print.add_bytes(text);
  return print.value();
}

/// Which library of mathematical functions the program runs with: its name, and a fingerprint of
/// what exp, log, pow, lgamma and others give for fixed arguments. Results of two such libraries
/// differ in their last digits, and a study must not mix them.
struct MathsLibrary {
  std::string name;         ///< "glibc 2.36"; for people
  std::string fingerprint;  ///< 16 hexadecimal digits
};
[[nodiscard]] const MathsLibrary& maths_library();

}  // namespace oas
