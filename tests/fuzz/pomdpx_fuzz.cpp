#include <cstdlib>

#include "fuzz/fuzz_target.hpp"
#include "fuzz/read_limits.hpp"
#include "oas/formats/pomdpx.hpp"

/// parse_pomdpx on any text: it gives a model whose text reads back with the same numbers, or
/// throws ParseError. Lists give the same model as tables.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace oas::test;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = model_of(text, oas::parse_pomdpx, true);
  if (!model) return 0;
  const auto again =
      model_of(oas::pomdpx_to_text(*model).text, oas::parse_pomdpx, true, kFlatMaxNumbers);
  if (!again || !same_numbers(*again, *model)) std::abort();
  const auto listed = model_of(text, oas::parse_pomdpx, true, kTightMaxNumbers);
  if (listed && !same_numbers(*listed, *model)) std::abort();
  return 0;
}
