#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/continuous_json.hpp"

/// parse_continuous_model on any text: it gives a model that reads back equal or throws
/// InvalidArgument.
namespace {

std::optional<oas::ContinuousPomdp> parse(std::string_view text) {
  try {
    return oas::parse_continuous_model(text, "model");
  } catch (const oas::InvalidArgument&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = parse({reinterpret_cast<const char*>(data), size});
  if (!model) return 0;
  const auto again = parse(oas::dump_json(oas::model_to_json(*model)));
  if (!again || !(*again == *model)) std::abort();
  return 0;
}
