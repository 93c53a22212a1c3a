#include "oas/jobs/drawn_models.hpp"

#include <filesystem>

#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/extreme_dynamics.hpp"
#include "oas/formats/model_file.hpp"

namespace oas {

std::optional<TransitionEstimate> estimate_in(const std::string& file) {
  if (!std::filesystem::is_regular_file(file) || is_foreign_model(file)) return std::nullopt;
  return read_estimate(file).estimate;
}

std::string DrawnModels::what() const {
  if (drawn_sensors)
    return drawn_rewards ? "dynamics, sensors and rewards" : "dynamics and sensors";
  return drawn_rewards ? "dynamics and rewards" : "dynamics";
}

DrawnModels draws_in(const std::string& file, const Pomdp& model) {
  const auto estimate = estimate_in(file);
  if (!estimate) return {};
  DrawnModels result{drawn_models(model, *estimate),
                     {},
                     true,
                     !estimate->reward.empty(),
                     !estimate->reward_draws.empty(),
                     !estimate->sensor_draws.empty()};
  if (result.models.empty()) return result;
  for (const TransitionModel& transition : extreme_dynamics(*estimate)) {
    result.extremes.push_back(model.with_transition(transition));
  }
  return result;
}

}  // namespace oas
