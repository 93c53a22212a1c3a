#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/io/pomdp_text.hpp"

/// parse_pomdp on any text: it gives a model whose text reads back equal, or throws ParseError.
/// What is accepted strictly is read the same when lenient.
namespace {

std::optional<oas::Pomdp> parse(std::string_view text, bool lenient) {
  oas::ModelReadOptions options;
  options.lenient = lenient;
  options.max_numbers = 20'000;
  try {
    return oas::parse_pomdp(text, "text", options).model;
  } catch (const oas::ParseError&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lenient = parse(text, true);
  const auto strict = parse(text, false);
  if (strict && !(lenient && *lenient == *strict)) std::abort();
  if (!strict) return 0;
  const auto again = parse(oas::pomdp_to_text(*strict).text, false);
  if (!again || !(*again == *strict)) std::abort();
  return 0;
}
