#include "oas/core/markup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oas {

namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// Bytes of the UTF-8 character that begins here; 0 if none does.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than needed, a surrogate, or beyond the last character.
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

// Takes the next character, or a byte that is none, off the text; as escape_control() writes it.
std::string next_escaped(std::string_view& text) {
  const std::size_t length = character_bytes(text);
  const auto first = static_cast<unsigned char>(text.front());
  const bool is_c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  const std::string_view taken = text.substr(0, std::max<std::size_t>(length, 1));
  text.remove_prefix(taken.size());
  if (length > 0 && !is_control(first) && !is_c1) return std::string(taken);
  std::string out;
  for (const char c : taken) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (is_control(static_cast<unsigned char>(c)) && c != '\n' && c != '\t' && c != '\r') {
          out += "\uFFFD";
        } else {
          out += c;
        }
    }
  }
  return out;
}

std::string escape_control(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (text.front() == '\n' || text.front() == '\t') {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += next_escaped(text);
    }
  }
  return out;
}

std::string escape_line(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    const std::string next = next_escaped(text);
    if (out.size() + next.size() > most) return out + "…";
    out += next;
  }
  return out;
}

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string with_minus(std::string_view number) {
  std::string out;
  for (const char c : number) out += c == '-' ? std::string("−") : std::string(1, c);
  return out;
}

}  // namespace oas
