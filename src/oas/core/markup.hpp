#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oas {

/// Text for XML, SVG and HTML, in content and in quoted attributes: &, <, > and " become entities,
/// and control characters, which XML forbids, the replacement character U+FFFD.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Text that cannot steer the terminal it is printed on: control characters other than newline and
/// tab, and bytes that are no UTF-8, are written as a backslash, an x and two hexadecimal digits.
[[nodiscard]] std::string escape_control(std::string_view text);

/// The same on one line, for words of others in messages: newlines and tabs are written so too, and
/// after about `most` bytes, at the border of a character, it ends with an ellipsis.
[[nodiscard]] std::string escape_line(std::string_view text, std::size_t most);

/// Characters of UTF-8 text: bytes that do not continue one.
[[nodiscard]] std::size_t num_characters(std::string_view text);

/// A printed number with minus signs in place of its hyphens, for people to read.
[[nodiscard]] std::string with_minus(std::string_view number);

/// Where an XML document holds what does not belong there: text beside elements, or anything but
/// comments around its one element; as an offset in bytes, -1: nowhere. `Node` is that of pugixml,
/// which drops such text unless it was told parse_fragment.
template <class Node>
[[nodiscard]] std::ptrdiff_t stray_content(const Node& document) {
  constexpr int kDocument = 1;
  constexpr int kElement = 2;
  constexpr int kText = 3;
  constexpr int kRawText = 4;
  const auto is_element = [](const Node& node) { return node && node.type() == kElement; };
  Node node = document.first_child();
  while (node) {
    const bool outside = node.parent().type() == kDocument;
    const bool text = node.type() == kText || node.type() == kRawText;
    const Node before = node.previous_sibling();
    if (text && (outside || is_element(before) || is_element(node.next_sibling()))) {
      return node.offset_debug();
    }
    if (outside && is_element(node) && is_element(before)) return node.offset_debug();
    Node next = node.first_child();
    // Not by recursion: a hostile file may be deep.
    while (!next && node && node.type() != kDocument) {
      next = node.next_sibling();
      node = node.parent();
    }
    node = next;
  }
  return -1;
}

}  // namespace oas
