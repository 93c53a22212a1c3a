#include "plan_horizon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "oas/planning/horizon/horizon_evaluation.hpp"
#include "oas/planning/horizon/horizon_plan.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string over(const HorizonValue& value) {
  const std::string steps = counted(value.steps, "step");
  return value.discount < 1.0 ? fmt::format("{}, discounted by {:g}", steps, value.discount)
                              : steps;
}

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

DrawnRange drawn_range(const Plan& plan, const DrawnModels& draws, double confidence,
                       const Common& common) {
  DrawnRange range = range_of(horizon_values(draws.models, plan, common.parallelism()), confidence);
  for (const Pomdp& extreme : draws.extremes) range = holding(range, horizon_value(extreme, plan));
  return range;
}

}  // namespace

std::string horizon_headline(const std::string& model, const Plan& plan) {
  const HorizonValue& value = *plan.horizon;
  return fmt::format(
      "{}: the best sum over {} lies in [{:.6g}, {:.6g}], a step in [{:.6g}, {:.6g}]\n"
      "  lower: what this plan earns, exact; upper: proved; {}\n"
      "  {}\n"
      "  {}, after {}\n",
      model, over(value), value.lower, value.upper, plan.gain_lower, plan.gain_upper, plan.message,
      first_action_text(plan), plan.horizon_policy()->brief(), counted(plan.iterations, "trial"));
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

void set_horizon_posterior(Plan& plan, const DrawnModels& draws, double confidence,
                           const Common& common) {
  if (draws.models.empty()) return;
  const DrawnRange range = drawn_range(plan, draws, confidence, common);
  plan.posterior = PosteriorGain{confidence, static_cast<int>(draws.models.size()), range.mean,
                                 range.lower, range.upper};
}

std::string horizon_posterior_line(const Plan& plan, const std::string& drawn) {
  if (!plan.posterior) return "";
  const PosteriorGain& sum = *plan.posterior;
  return fmt::format(
      "  over {} {} drawn from the posterior: {:.6g} in all on average, {:g} % in [{:.6g}, "
      "{:.6g}]\n",
      sum.draws, drawn, sum.mean, 100.0 * sum.confidence, sum.lower, sum.upper);
}

void evaluate_horizon(const HorizonQuestion& question, const Pomdp& truth, const Plan& plan,
                      const Common& common) {
  const HorizonValue& value = *plan.horizon;
  const double weight = horizon_weight(value.steps, value.discount);
  Plan judged = plan;
  judged.posterior.reset();
  const DrawnModels draws = draws_in(question.model, truth);
  double exact = 0.0;
  const GainInterval simulated = while_shown(common, "evaluating " + question.plan, [&] {
    exact = horizon_value(truth, plan);
    constexpr double kConfidence = 0.95;
    set_horizon_posterior(judged, draws, kConfidence, common);
    return simulate_horizon(truth, plan, question.simulation, common.parallelism());
  });
  if (common.json) {
    Json document = {{"model", question.model},
                     {"plan", question.plan},
                     {"horizon", value.steps},
                     {"discount", value.discount},
                     {"exact", exact},
                     {"exact_per_step", exact / weight},
                     {"simulated", simulated.mean},
                     {"half_width", simulated.half_width},
                     {"level", simulated.level},
                     {"lower_limit", simulated.lower_limit},
                     {"runs", simulated.num_batches},
                     {"steps", simulated.steps},
                     {"seed", simulated.seed}};
    if (const auto& sum = judged.posterior) {
      document["posterior"] = {{"confidence", sum->confidence},
                               {"draws", sum->draws},
                               {"mean", sum->mean},
                               {"lower", sum->lower},
                               {"upper", sum->upper}};
    }
    if (!question.warnings.empty()) document["warnings"] = question.warnings;
    print_json(common, document);
  }
  print(common, fmt::format("{} in {}: the sum over {}\n"
                            "  exact      {:.10g}, {:.6g} a step\n"
                            "  simulated  {:.6g} ± {:.2g} ({:g} % over {})\n{}",
                            question.plan, question.model, over(value), exact, exact / weight,
                            simulated.mean, simulated.half_width, 100.0 * simulated.level,
                            counted(simulated.num_batches, "run"),
                            horizon_posterior_line(judged, draws.what())));
}

}  // namespace oas::cli
