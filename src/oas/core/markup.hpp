#pragma once

#include <string>
#include <string_view>

namespace oas {

/// Text for XML, SVG and HTML, in content and in quoted attributes: &, <, > and " become entities,
/// and control characters, which XML forbids, the replacement character U+FFFD.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Text that cannot steer the terminal it is printed on: control characters other than newline and
/// tab, and bytes that are no UTF-8, are written as a backslash, an x and two hexadecimal digits.
[[nodiscard]] std::string escape_control(std::string_view text);

/// Characters of UTF-8 text: bytes that do not continue one.
[[nodiscard]] std::size_t num_characters(std::string_view text);

/// A printed number with minus signs in place of its hyphens, for people to read.
[[nodiscard]] std::string with_minus(std::string_view number);

}  // namespace oas
