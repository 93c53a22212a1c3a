#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/estimation/estimate_json.hpp"

/// parse_estimate on any text: it gives a model with a transition, and intervals of its size or
/// none; written anew the JSON gives the same. Otherwise it throws InvalidArgument.
namespace {

std::optional<oas::EstimateDocument> parse(std::string_view text) {
  try {
    return oas::parse_estimate(text, "estimate");
  } catch (const oas::InvalidArgument&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse(text);
  if (!document) return 0;
  const std::size_t numbers = document->model.transition().values().size();
  if (document->has_intervals() && (document->estimate->lower.size() != numbers ||
                                    document->estimate->upper.size() != numbers)) {
    std::abort();
  }
  const auto again = parse(oas::dump_json(oas::parse_json(text, "estimate")));
  if (!again || !(again->model == document->model) ||
      again->estimate.has_value() != document->estimate.has_value()) {
    std::abort();
  }
  if (document->estimate) {  // as text: unknown numbers are not equal to themselves
    const auto written = [](const oas::EstimateDocument& any) {
      return oas::dump_json(oas::estimate_to_json(any.model, *any.estimate));
    };
    if (written(*again) != written(*document)) std::abort();
  }
  return 0;
}
