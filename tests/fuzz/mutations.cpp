#include "fuzz/mutations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace oas::test {

namespace {

using Chance = std::mt19937_64;

std::size_t below(std::size_t count, Chance& chance) { return count == 0 ? 0 : chance() % count; }

struct Span {
  std::size_t first = 0;
  std::size_t size = 0;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

bool is_number(std::string_view token) {
  return !token.empty() && token.find_first_not_of("0123456789.+-eE") == token.npos &&
         token.find_first_of("0123456789") != token.npos;
}

// The word or the single other character around a random place.
Span random_token(std::string_view text, Chance& chance) {
  if (text.empty()) return {};
  std::size_t first = below(text.size(), chance);
  if (!is_word(text[first])) return {first, 1};
  std::size_t end = first;
  while (first > 0 && is_word(text[first - 1])) --first;
  while (end < text.size() && is_word(text[end])) ++end;
  return {first, end - first};
}

// A random number, or another token where there is none nearby.
Span random_number(std::string_view text, Chance& chance) {
  Span span;
  for (int i = 0; i < 30; ++i) {
    span = random_token(text, chance);
    if (is_number(text.substr(span.first, span.size))) break;
  }
  return span;
}

Span random_line(std::string_view text, Chance& chance) {
  const std::size_t place = below(text.size(), chance);
  const std::size_t before = place == 0 ? text.npos : text.rfind('\n', place - 1);
  const std::size_t first = before == text.npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', first), text.size() - 1);
  return {first, text.empty() ? 0 : end + 1 - first};
}

// From an opening bracket to the one that closes it; XML: from one tag to the next like it.
Span random_group(std::string_view text, Chance& chance) {
  const std::size_t first = text.find_first_of("[{<", below(text.size(), chance));
  if (first == text.npos) return random_line(text, chance);
  if (text[first] == '<') {
    const std::size_t end = text.find('>', below(text.size() - first, chance) + first);
    return {first, (end == text.npos ? text.size() : end + 1) - first};
  }
  std::size_t depth = 0;
  for (std::size_t at = first; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '{') ++depth;
    if ((text[at] == ']' || text[at] == '}') && --depth == 0) return {first, at + 1 - first};
  }
  return {first, text.size() - first};
}

Span random_part(std::string_view text, Chance& chance) {
  switch (below(4, chance)) {
    case 0:
      return random_line(text, chance);
    case 1:
      return random_group(text, chance);
    default:
      return random_token(text, chance);
  }
}

constexpr std::array<std::string_view, 40> kOdd = {"0",
                                                   "-0",
                                                   "1",
                                                   "-1",
                                                   "2",
                                                   "7",
                                                   "0.5",
                                                   "1e308",
                                                   "-1e308",
                                                   "1e-308",
                                                   "5e-324",
                                                   "1e999",
                                                   "nan",
                                                   "-inf",
                                                   "Infinity",
                                                   "NaN",
                                                   "2147483647",
                                                   "2147483648",
                                                   "-2147483649",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "18446744073709551616",
                                                   "1000000",
                                                   "99999999",
                                                   "1e-17",
                                                   "0.30000000000000004",
                                                   "0x10",
                                                   "1,5",
                                                   "\"\"",
                                                   "null",
                                                   "true",
                                                   "*",
                                                   "-",
                                                   "[]",
                                                   "{}",
                                                   "\xff\xfe",
                                                   "\\u0000",
                                                   "before",
                                                   "uniform"};

std::string repeated(std::string_view part, std::size_t times, std::size_t most) {
  std::string text;
  while (times-- > 0 && text.size() + part.size() <= most) text += part;
  return text;
}

std::string nested(const std::string& text, Span part, Chance& chance) {
  static constexpr std::array<std::array<std::string_view, 2>, 4> kPairs = {
      {{"[", "]"}, {"{\"a\":", "}"}, {"<a>", "</a>"}, {"(", ")"}}};
  const auto& pair = kPairs[below(kPairs.size(), chance)];
  const std::size_t times = std::size_t{1} << below(12, chance);
  return repeated(pair[0], times, 1 << 14) + text.substr(part.first, part.size) +
         repeated(pair[1], times, 1 << 14);
}

// What stands in place of a part of the text.
std::string instead_of(const std::string& text, Span part, std::string_view other, Chance& chance) {
  const std::string_view old = std::string_view(text).substr(part.first, part.size);
  switch (below(8, chance)) {
    case 0:
      return "";
    case 1:
      return repeated(old, 2, text.size() + 2 * old.size());
    case 2:
      return repeated(old, std::size_t{2} << below(13, chance), 1 << 16);
    case 3:
      return nested(text, part, chance);
    case 4: {
      const Span taken = random_part(other, chance);
      return std::string(other.substr(std::min(taken.first, other.size()), taken.size));
    }
    case 5: {
      const Span taken = random_part(text, chance);
      return text.substr(taken.first, taken.size);
    }
    default:
      return std::string(kOdd[below(kOdd.size(), chance)]);
  }
}

void change_text(std::string& text, std::string_view other, Chance& chance) {
  const bool number = below(3, chance) == 0;
  const Span part = number ? random_number(text, chance) : random_part(text, chance);
  const std::string with =
      number ? std::string(kOdd[below(30, chance)]) : instead_of(text, part, other, chance);
  text.replace(part.first, part.size, with);
}

void change_byte(std::string& bytes, Chance& chance) {
  if (bytes.empty()) return;
  const std::size_t at = below(bytes.size(), chance);
  bytes[at] = static_cast<char>(below(2, chance) == 0 ? bytes[at] ^ (1 << below(8, chance))
                                                      : static_cast<int>(below(256, chance)));
}

// Sizes and places are big-endian numbers in the headers of pages; cells begin by short numbers.
void change_pages(std::string& bytes, std::string_view other, Chance& chance) {
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = bytes.size() / kPage;
  if (pages == 0) return change_byte(bytes, chance);
  const std::size_t page = below(pages, chance) * kPage;
  const std::size_t header = page + (page == 0 && below(2, chance) == 0 ? 0 : page == 0 ? 100 : 0);
  switch (below(5, chance)) {
    case 0:  // a field of a header, or a pointer to a cell
      bytes[header + below(48, chance)] = static_cast<char>(below(256, chance));
      break;
    case 1: {  // a pointer to where another one leads
      const std::size_t from = header + 8 + 2 * below(16, chance);
      const std::size_t to = header + 8 + 2 * below(16, chance);
      bytes.replace(to, 2, bytes.substr(from, 2));
      break;
    }
    case 2:  // a length, in the part of the page where cells lie
      bytes[page + kPage - 1 - below(600, chance)] =
          static_cast<char>(std::array{0x00, 0x7f, 0x80, 0x81, 0xff}[below(5, chance)]);
      break;
    case 3: {  // a whole page from elsewhere
      const std::string_view source = below(2, chance) == 0 ? other : bytes;
      const std::size_t from = below(std::max<std::size_t>(1, source.size() / kPage), chance);
      bytes.replace(page, kPage, std::string(source.substr(from * kPage, kPage)));
      break;
    }
    default:
      change_byte(bytes, chance);
  }
}

}  // namespace

std::string mutated(std::string bytes, std::string_view other, Shape shape, std::size_t most,
                    std::mt19937_64& chance) {
  for (std::size_t left = 1 + below(4, chance); left > 0; --left) {
    if (shape == Shape::text && below(16, chance) != 0) {
      change_text(bytes, other, chance);
    } else if (shape == Shape::pages) {
      change_pages(bytes, other, chance);
    } else {
      change_byte(bytes, chance);
    }
  }
  if (bytes.size() > most) bytes.resize(most);
  return bytes;
}

}  // namespace oas::test
