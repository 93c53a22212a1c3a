#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/live/detail/live_request.hpp"

/// parse_live_request on any text: a request whose parts the model has, or InvalidArgument.
namespace {

oas::Pomdp model() {
  oas::PomdpParts parts;
  parts.states = oas::Labels(2, "state");
  parts.actions = oas::Labels({"run", "stop"}, "action");
  parts.observations = oas::Labels({"cold", "hot", "none"}, "observation");
  parts.sensors = oas::ObservationModel(
      2, 2, 3, {0.5, 0.3, 0.2, 0.1, 0.3, 0.6, 0.5, 0.3, 0.2, 0.1, 0.3, 0.6}, "observation");
  return oas::Pomdp(std::move(parts));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const oas::Pomdp pomdp = model();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view call : {"", "step", "forecast"}) {
    try {
      const oas::detail::LiveRequest request = oas::detail::parse_live_request(call, text, pomdp);
      if (request.row.action >= 2 || request.row.observation >= 3) std::abort();
      if (request.unit.size() > oas::detail::kLongestUnit) std::abort();
      if (request.step && *request.step < -1) std::abort();
    } catch (const oas::InvalidArgument&) {
    }
  }
  return 0;
}
