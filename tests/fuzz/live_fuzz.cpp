#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/live/detail/live_model.hpp"
#include "oas/live/detail/live_request.hpp"

/// parse_live_request on any text: a request whose parts the model has, or InvalidArgument; and of
/// its row what the model takes of it, with finite observations and with readings.
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

oas::ContinuousPomdp model_of_readings(const oas::Pomdp& chain) {
  std::vector<oas::VectorDensity> densities;
  for (const double mean : {0.0, 1.0, 0.0, 2.0}) {
    densities.push_back(
        oas::VectorDensity({oas::Density::gaussian(mean, 1.0), oas::Density::poisson(1.0 + mean)}));
  }
  return oas::ContinuousPomdp(chain, oas::DensitySensors(2, 2, std::move(densities)));
}

// Whatever is taken says something finite about each state, or nothing.
void see(const oas::detail::LiveModel& model, oas::JournalRow row) {
  if (row.action < 0) row.action = oas::Action{0};
  try {
    const oas::detail::SeenRow seen = model.seen(row);
    double sum = 0.0;
    for (const double p : seen.likelihoods) sum += p;
    if (!seen.likelihoods.empty() && (seen.likelihoods.size() != 2 || !(sum > 0.0))) std::abort();
    if (seen.observation >= model.finite().num_observations()) std::abort();
  } catch (const oas::InvalidArgument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const oas::Pomdp pomdp = model();
  static const oas::detail::LiveModel finite(pomdp);
  static const oas::detail::LiveModel readings(model_of_readings(pomdp));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view call : {"", "step", "forecast"}) {
    try {
      const oas::detail::LiveRequest request = oas::detail::parse_live_request(call, text, pomdp);
      if (request.row.action >= 2 || request.row.observation >= 3) std::abort();
      if (request.unit.size() > oas::detail::kLongestUnit) std::abort();
      if (request.step && *request.step < -1) std::abort();
      see(finite, request.row);
      see(readings, request.row);
    } catch (const oas::InvalidArgument&) {
    }
  }
  return 0;
}
