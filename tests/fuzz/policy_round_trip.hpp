#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/policies/alpha_policy.hpp"

namespace oas::test {

/// Any text: `parse` gives a valid policy whose text reads back equal, or throws ParseError.
template <class Parse, class ToText>
int check_policy_round_trip(std::string_view text, Parse parse, ToText to_text) {
  const auto read = [&](std::string_view any) -> std::optional<AlphaPolicy> {
    PolicyReadOptions options;
    options.max_numbers = 20'000;
    try {
      return parse(any, "text", options);
    } catch (const ParseError&) {
      return std::nullopt;
    }
  };
  const auto policy = read(text);
  if (!policy) return 0;
  policy->validate();
  const auto again = read(to_text(*policy));
  if (!again || !(*again == *policy)) std::abort();
  return 0;
}

}  // namespace oas::test
