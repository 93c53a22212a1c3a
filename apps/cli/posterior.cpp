#include "posterior.hpp"

#include <filesystem>

#include "cli.hpp"
#include "oas/estimation/estimate_json.hpp"

namespace oas::cli {

std::optional<TransitionEstimate> estimate_in(const std::string& name) {
  if (names_model(name) || !std::filesystem::is_regular_file(name)) return std::nullopt;
  return read_estimate(name).estimate;
}

std::vector<TransitionModel> draws_in(const std::string& name) {
  const auto estimate = estimate_in(name);
  return estimate ? drawn_transitions(*estimate) : std::vector<TransitionModel>{};
}

}  // namespace oas::cli
