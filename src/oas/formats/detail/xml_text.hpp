#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "oas/formats/detail/faults.hpp"

/// What the readers of XML texts share: where a node stands, and its text word by word.
namespace oas::detail {

class XmlText {
 public:
  /// Throws ParseError when the text is no XML.
  XmlText(std::string_view text, const std::string& file);

  [[nodiscard]] const pugi::xml_document& document() const { return document_; }
  [[nodiscard]] Place place(const pugi::xml_node& node) const;

 private:
  [[nodiscard]] Place place_of(std::ptrdiff_t offset) const;

  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  pugi::xml_document document_;
};

/// All text directly inside a node.
[[nodiscard]] std::string text_of(const pugi::xml_node& node);

/// The words of a text, which must outlive them.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// The number that a word is, with or without sign; false when it is none or not finite.
[[nodiscard]] bool read_number(std::string_view word, double& number);

}  // namespace oas::detail
