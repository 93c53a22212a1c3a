#include "posterior.hpp"

#include <fmt/format.h>

namespace oas::cli {

std::string why_no_limits(const std::string& name) {
  return fmt::format(
      "{} carries no draws of the dynamics, so there are no limits; oas estimate writes some with "
      "oas-ml, em and gibbs",
      name);
}

void warn_of_exact_rewards(const std::string& name, const DrawnModels& draws, const Common& common,
                           std::vector<std::string>& warnings) {
  if (!draws.rewards_are_exact()) return;
  warnings.push_back(
      fmt::format("{}: its rewards were learned from a log, but the file carries no draws of them: "
                  "limits over the draws take them as exact; estimate again to have both",
                  name));
  warn(common, warnings.back());
}

std::string posterior_text(const Plan& plan, const PlanLimits& limits, const std::string& drawn) {
  if (!plan.posterior) return "";
  const PosteriorGain& gain = *plan.posterior;
  const std::string mean = plan.horizon      ? fmt::format("{:.6g} in all", gain.mean)
                           : plan.discounted ? fmt::format("worth {:.6g}", gain.mean)
                                             : fmt::format("gain {:.6g}", gain.mean);
  return fmt::format(
             "  over {} {} drawn from the posterior: {} on average, {:g} % in [{:.6g}, {:.6g}]\n",
             gain.draws, drawn, mean, 100.0 * gain.confidence, gain.lower, gain.upper) +
         (limits.beyond_draws.empty() ? "" : fmt::format("  {}\n", limits.beyond_draws));
}

}  // namespace oas::cli
