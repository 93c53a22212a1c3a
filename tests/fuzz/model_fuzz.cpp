#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/model_json.hpp"

/// parse_model and parse_continuous_model on any text: they give a model that reads back equal or
/// throw InvalidArgument.
namespace {

template <class Model>
std::optional<Model> parse(std::string_view text,
                           Model (*reader)(std::string_view, const std::string&)) {
  try {
    return reader(text, "model");
  } catch (const oas::InvalidArgument&) {
    return std::nullopt;
  }
}

template <class Model>
void round_trip(std::string_view text, Model (*reader)(std::string_view, const std::string&)) {
  const auto model = parse(text, reader);
  if (!model) return;
  const auto again = parse(oas::dump_json(oas::model_to_json(*model)), reader);
  if (!again || !(*again == *model)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip(text, oas::parse_model);
  round_trip(text, oas::parse_continuous_model);
  return 0;
}
