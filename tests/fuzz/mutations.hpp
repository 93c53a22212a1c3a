#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace oas::test {

/// What a file is made of, which says how it is changed so that most readers get far into it.
enum class Shape {
  text,    ///< words, numbers, brackets, lines: JSON, TOML, .pomdp, XML, CSV
  pages,   ///< an SQLite file: pages of 4,096 bytes, each a header, cell pointers and cells
  binary,  ///< anything else
};

/// One to four random changes. Text: a number becomes an odd one, tokens, lines or whole pairs of
/// brackets are doubled, dropped, exchanged, put into each other or taken from `other`, a sound
/// file of the same kind. Pages: fields of their headers, pointers, lengths and whole pages. Now
/// and then any byte. The result has at most `most` bytes.
[[nodiscard]] std::string mutated(std::string bytes, std::string_view other, Shape shape,
                                  std::size_t most, std::mt19937_64& chance);

}  // namespace oas::test
