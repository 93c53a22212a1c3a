#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/planning/plan.hpp"

/// parse_plan on any text: it gives a plan that reads back equal or throws InvalidArgument.
namespace {

std::optional<oas::Plan> parse(std::string_view text) {
  try {
    return oas::parse_plan(text, "plan");
  } catch (const oas::InvalidArgument&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = parse({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const auto again = parse(oas::dump_json(oas::plan_to_json(*plan)));
  if (!again || !(*again == *plan)) std::abort();
  return 0;
}
