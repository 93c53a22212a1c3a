#include "horizon_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "oas/planning/horizon/horizon_plan.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string name_of_action(const Plan& plan, int node) {
  const HorizonStage& stage = plan.horizon_policy()->stages.front();
  return plan.model.actions()[stage.actions[static_cast<std::size_t>(node)]];
}

std::string first_action_text(const Plan& plan) {
  const HorizonPolicy& policy = *plan.horizon_policy();
  if (const auto action = policy.first_action()) {
    return fmt::format("first action: {}{}", plan.model.actions()[action->value()],
                       policy.first.empty() ? "" : ", whatever is read first");
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> readings;  // by action
  for (int o = 0; o < plan.model.num_observations(); ++o) {
    const int node = policy.first[static_cast<std::size_t>(o)];
    if (node == HorizonPolicy::kNone) continue;
    const std::string action = name_of_action(plan, node);
    auto known = std::find_if(readings.begin(), readings.end(),
                              [&](const auto& one) { return one.first == action; });
    if (known == readings.end()) known = readings.insert(known, {action, {}});
    known->second.push_back(plan.model.observations()[o]);
  }
  std::vector<std::string> words;
  for (const auto& [action, after] : readings) {
    constexpr std::size_t kShown = 6;
    const std::span shown(after.data(), std::min(kShown, after.size()));
    words.push_back(fmt::format(
        "{} after {}{}", action, fmt::join(shown, ", "),
        after.size() > kShown ? fmt::format(" and {} more", after.size() - kShown) : ""));
  }
  return fmt::format("the first action depends on the first reading: {}", fmt::join(words, "; "));
}

}  // namespace

std::string over_steps(const HorizonValue& value) {
  const std::string steps = counted(value.steps, "step");
  return value.discount < 1.0 ? fmt::format("{}, discounted by {:g}", steps, value.discount)
                              : steps;
}

std::string horizon_headline(const std::string& model, const Plan& plan) {
  const HorizonValue& value = *plan.horizon;
  return fmt::format(
      "{}: the best sum over {} lies in [{:.6g}, {:.6g}], a step in [{:.6g}, {:.6g}]\n"
      "  lower: what this plan earns, exact; upper: proved; {}\n"
      "  {}\n"
      "  {}, after {}\n",
      model, over_steps(value), value.lower, value.upper, plan.gain_lower, plan.gain_upper,
      plan.message, first_action_text(plan), plan.horizon_policy()->brief(),
      counted(plan.iterations, "trial"));
}

Json first_action_json(const Plan& plan) {
  const HorizonPolicy& policy = *plan.horizon_policy();
  if (policy.first.empty()) return name_of_action(plan, policy.start);
  Json by_reading = Json::object();
  for (int o = 0; o < plan.model.num_observations(); ++o) {
    const int node = policy.first[static_cast<std::size_t>(o)];
    if (node == HorizonPolicy::kNone) continue;
    by_reading[plan.model.observations()[o]] = name_of_action(plan, node);
  }
  return by_reading;
}

}  // namespace oas::cli
