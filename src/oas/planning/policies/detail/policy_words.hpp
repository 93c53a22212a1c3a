#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

/// Lines, words and numbers of policy texts, without regard to the locale.
namespace oas::detail {

/// Takes the next word off the front of `text`; empty when there is none.
[[nodiscard]] inline std::string_view next_word(std::string_view& text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    text = {};
    return {};
  }
  const auto end = std::min(text.find_first_of(kSpace, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

/// Takes the next line off the front of `text`, without its end.
[[nodiscard]] inline std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// The whole number that a word is; false when it is none.
[[nodiscard]] inline bool read_integer(std::string_view word, int& value) {
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return !word.empty() && result.ec == std::errc() && result.ptr == word.data() + word.size();
}

/// The finite number that a word is; false when it is none.
[[nodiscard]] inline bool read_real(std::string_view word, double& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return !word.empty() && result.ec == std::errc() && result.ptr == word.data() + word.size() &&
         std::isfinite(value);
}

/// A word in messages: long ones are cut.
[[nodiscard]] inline std::string cut_word(std::string_view word) {
  constexpr std::size_t kMost = 40;
  if (word.size() <= kMost) return std::string(word);
  return std::string(word.substr(0, kMost)) + "…";
}

}  // namespace oas::detail
