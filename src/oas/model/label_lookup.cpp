#include "oas/model/label_lookup.hpp"

#include <algorithm>
#include <charconv>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The number that is written so and in no other way; -1: it is none.
int number_in(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && fmt::to_string(number) == text ? number : -1;
}

}  // namespace

std::string listed(const Labels& labels) {
  std::string text;
  for (int i = 0; i < labels.size(); ++i) text += (i > 0 ? ", " : "") + labels[i];
  return text;
}

int element_named(std::string_view text, const Labels& labels, std::string_view what,
                  std::string_view option) {
  const std::string_view word = without_blanks(text);
  const int found = labels.find(word).value_or(number_in(word));
  OAS_REQUIRE(found >= 0 && found < labels.size(), "{}{}there is no {} '{}'; there are {}", option,
              option.empty() ? "" : ": ", what, word, listed(labels));
  return found;
}

std::vector<int> elements_named(std::string_view text, const Labels& labels, std::string_view what,
                                std::string_view option) {
  std::vector<int> elements;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find('+', first), text.size());
    const int found = element_named(text.substr(first, end - first), labels, what, option);
    if (std::find(elements.begin(), elements.end(), found) == elements.end()) {
      elements.push_back(found);
    }
    first = end + 1;
  }
  return elements;
}

}  // namespace oas
