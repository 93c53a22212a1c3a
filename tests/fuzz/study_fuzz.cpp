#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/study/study.hpp"
#include "oas/study/summary.hpp"

/// parse_study on any text, full and quick: it gives a study whose text reads back to the same hash
/// or throws ParseError with a place.
namespace {

std::optional<oas::Study> parse(std::string_view text, bool quick) {
  try {
    return oas::parse_study(text, "study", quick);
  } catch (const oas::ParseError&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const bool quick : {false, true}) {
    const auto study = parse({reinterpret_cast<const char*>(data), size}, quick);
    if (!study) continue;
    const auto again = parse(study->source, quick);
    if (!again || again->hash() != study->hash()) std::abort();
    if (study->num_units() < 1 || oas::answer_text(*study, {}).size() > size) std::abort();
  }
  return 0;
}
