#include <cstdlib>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/read_limits.hpp"
#include "oas/formats/pomdp_text.hpp"

/// parse_pomdp on any text: it gives a model whose text reads back equal, or throws ParseError.
/// What is accepted strictly is read the same when lenient, and as a list the same as a table.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace oas::test;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lenient = model_of(text, oas::parse_pomdp, true);
  const auto strict = model_of(text, oas::parse_pomdp, false);
  if (strict && !(lenient && *lenient == *strict)) std::abort();
  if (!strict) return 0;
  const auto again = model_of(oas::pomdp_to_text(*strict).text, oas::parse_pomdp, false);
  if (!again || !(*again == *strict)) std::abort();
  const auto listed = model_of(text, oas::parse_pomdp, false, kTightMaxNumbers);
  if (listed && !same_numbers(*listed, *strict)) std::abort();
  return 0;
}
