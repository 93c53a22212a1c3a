#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace oas::python {

/// The type of a value with its article, for messages: "a list", "an int".
inline std::string typed(nanobind::handle value) {
  const std::string name = nanobind::type_name(value.type()).c_str();
  constexpr std::string_view kVowels = "aeiouAEIOU";
  const bool vowel = !name.empty() && kVowels.find(name.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + name;
}

}  // namespace oas::python
