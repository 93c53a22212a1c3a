#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/alpha_policy.hpp"

/// parse_alpha on any text: it gives a valid policy whose text reads back equal, or throws
/// ParseError.
namespace {

std::optional<oas::AlphaPolicy> parse(std::string_view text) {
  oas::PolicyReadOptions options;
  options.max_numbers = 20'000;
  try {
    return oas::parse_alpha(text, "text", options);
  } catch (const oas::ParseError&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto policy = parse({reinterpret_cast<const char*>(data), size});
  if (!policy) return 0;
  policy->validate();
  const auto again = parse(oas::alpha_to_text(*policy));
  if (!again || !(*again == *policy)) std::abort();
  return 0;
}
