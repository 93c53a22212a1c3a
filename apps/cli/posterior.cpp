#include "posterior.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/extreme_dynamics.hpp"

namespace oas::cli {

std::optional<TransitionEstimate> estimate_in(const std::string& name) {
  if (names_model(name) || !std::filesystem::is_regular_file(name)) return std::nullopt;
  return read_estimate(name).estimate;
}

std::string why_no_limits(const std::string& name) {
  return fmt::format(
      "{} carries no draws of the dynamics, so there are no limits; oas estimate writes some with "
      "oas-ml, em and gibbs",
      name);
}

std::string DrawnModels::what() const {
  if (drawn_sensors)
    return drawn_rewards ? "dynamics, sensors and rewards" : "dynamics and sensors";
  return drawn_rewards ? "dynamics and rewards" : "dynamics";
}

DrawnModels draws_in(const std::string& name, const Pomdp& model) {
  const auto estimate = estimate_in(name);
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

void warn_of_exact_rewards(const std::string& name, const DrawnModels& draws, const Common& common,
                           std::vector<std::string>& warnings) {
  if (draws.models.empty() || !draws.learned_rewards || draws.drawn_rewards) return;
  warnings.push_back(
      fmt::format("{}: its rewards were learned from a log, but the file carries no draws of them: "
                  "limits over the draws take them as exact; estimate again to have both",
                  name));
  warn(common, warnings.back());
}

}  // namespace oas::cli
