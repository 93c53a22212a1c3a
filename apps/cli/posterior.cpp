#include "posterior.hpp"

#include <filesystem>

#include "cli.hpp"
#include "oas/estimation/estimate_json.hpp"

namespace oas::cli {

std::vector<TransitionModel> draws_in(const std::string& name) {
  // A pipe cannot be read twice.
  if (names_model(name) || !std::filesystem::is_regular_file(name)) return {};
  const auto estimate = read_estimate(name).estimate;
  return estimate ? drawn_models(*estimate) : std::vector<TransitionModel>{};
}

}  // namespace oas::cli
