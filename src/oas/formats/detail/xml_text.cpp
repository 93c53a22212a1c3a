#include "oas/formats/detail/xml_text.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "oas/core/number_text.hpp"

namespace oas::detail {

XmlText::XmlText(std::string_view text, const std::string& file) : text_(text), line_starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
  const auto fail_at = [&](std::ptrdiff_t offset, const std::string& message) {
    const Place place = place_of(offset);
    throw ParseError(file, place.line, place.column, message);
  };
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    fail_at(static_cast<std::ptrdiff_t>(zero), "not valid XML: a byte that is 0");
  }
  const auto result =
      document_.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_fragment);
  if (!result) fail_at(result.offset, fmt::format("not valid XML: {}", result.description()));
  if (const std::ptrdiff_t stray = stray_content<pugi::xml_node>(document_); stray >= 0) {
    fail_at(stray, "not valid XML: text or an element where none belongs");
  }
}

Place XmlText::place(const pugi::xml_node& node) const { return place_of(node.offset_debug()); }

Place XmlText::place_of(std::ptrdiff_t offset) const {
  if (offset < 0) return {};
  const auto at = std::min(static_cast<std::size_t>(offset), text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), at);
  return {next - line_starts_.begin(), static_cast<long>(at - *(next - 1)) + 1};
}

std::string text_of(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
      text += child.value();
      text += ' ';
    }
  }
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    while (at < text.size() && is_space(text[at])) ++at;
  }
  return words;
}

bool read_number(std::string_view word, double& number) {
  const bool is_signed = word.starts_with('-') || word.starts_with('+');
  const char* begin = word.data() + (is_signed ? 1 : 0);
  const char* end = word.data() + word.size();
  const ScannedNumber scanned = scan_number(begin, end, true);
  if (scanned.end == begin || scanned.end != end || !std::isfinite(scanned.value)) return false;
  number = word.starts_with('-') ? -scanned.value : scanned.value;
  return true;
}

}  // namespace oas::detail
