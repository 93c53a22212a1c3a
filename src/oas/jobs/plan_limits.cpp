#include "oas/jobs/plan_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/planning/horizon/horizon_evaluation.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"
#include "oas/theory/communication.hpp"

namespace oas {

namespace {

constexpr double kCoarse = 0.01;  // of the worth: a copy of a plan that loses more is named
constexpr double kFar = 0.1;      // of the gain: limits that lie so far beyond the draws are named

// What the plan is worth in each draw, and in one model.
struct Worth {
  std::vector<double> drawn;
  std::function<double(const Pomdp&)> in;
};

// The long run of a plan that is made for the near future, as where all ends in a failure for ever,
// says nothing.
Worth worth_of(const Plan& plan, const DrawnModels& draws, const Controller& controller,
               Parallelism parallelism) {
  if (!plan.discounted) {
    return {evaluate_over(draws.models, controller, parallelism).gains,
            [&](const Pomdp& model) { return evaluate_controller(model, controller).gain; }};
  }
  const double discount = plan.discounted->discount;
  return {discounted_over(draws.models, controller, discount, parallelism).gains,
          [&, discount](const Pomdp& model) {
            return evaluate_discounted(model, controller, discount).gain;
          }};
}

// Where the controller is a coarse copy of the plan; else empty.
std::string about_coarseness(const Plan& plan, const ActingPlan& acting) {
  if (!plan.discounted) {
    if (!acting.worse) return {};
    return fmt::format(
        "the gain over the draws is that of a coarse copy of the plan, which earns {:.6g} in the "
        "plan's own model",
        acting.gain);
  }
  const double here =
      evaluate_discounted(plan.model, acting.controller, plan.discounted->discount).gain;
  const double lower = plan.discounted->lower;
  if (here >= lower - kCoarse * std::abs(lower)) return {};
  return fmt::format(
      "the worth over the draws is that of a coarse copy of the plan, which is worth {:.6g} in the "
      "plan's own model",
      here);
}

constexpr double kNever = 1e-6;  // an estimate at 0 is a tiny number

// Without the transitions that are hardly ever taken.
TransitionModel without_tiny(const TransitionModel& transition) {
  if (transition.is_listed()) return transition;
  std::vector<double> values(transition.values().begin(), transition.values().end());
  const auto states = static_cast<std::size_t>(transition.num_states());
  for (std::size_t first = 0; first < values.size(); first += states) {
    const std::span row = std::span(values).subspan(first, states);
    for (double& value : row) value = value < kNever ? 0.0 : value;
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& value : row) value /= sum;
  }
  return {transition.num_states(), transition.num_actions(), std::move(values)};
}

// About a limit that is that of an extreme, where the draws alone would give another.
std::string about_extremes(const Plan& plan, const DrawnRange& draws, const DrawnRange& held) {
  if (plan.discounted || plan.horizon) return {};
  const double width = draws.upper - draws.lower;
  const double beyond = held.upper - held.lower - width;
  const double size = std::max(std::abs(draws.lower), std::abs(draws.upper));
  if (beyond <= std::max(width, kFar * size)) return {};
  return fmt::format(
      "the limits, not the mean, allow for dynamics without the transitions that the log may not "
      "have shown; over the draws alone they are [{:.6g}, {:.6g}]",
      draws.lower, draws.upper);
}

PosteriorGain posterior_of(const DrawnRange& range, double confidence, std::size_t draws) {
  return {confidence, static_cast<int>(draws), range.mean, range.lower, range.upper};
}

}  // namespace

PlanLimits set_limits_over_draws(Plan& plan, const DrawnModels& draws, double confidence,
                                 Parallelism parallelism) {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
  if (draws.models.empty()) return {};
  PlanLimits limits;
  Worth worth;
  ActingPlan acting;
  if (plan.horizon) {
    worth = {horizon_values(draws.models, plan, parallelism),
             [&](const Pomdp& model) { return horizon_value(model, plan); }};
  } else {
    acting = acting_controller(plan);
    limits.coarseness = about_coarseness(plan, acting);
    worth = worth_of(plan, draws, acting.controller, parallelism);
  }
  const DrawnRange drawn = range_of(std::move(worth.drawn), confidence);
  DrawnRange held = drawn;
  for (const Pomdp& extreme : draws.extremes) held = holding(held, worth.in(extreme));
  limits.beyond_draws = about_extremes(plan, drawn, held);
  plan.posterior = posterior_of(held, confidence, draws.models.size());
  return limits;
}

std::string about_the_end(const Pomdp& model) {
  const CommunicationReport report =
      analyse_communication(without_tiny(model.transition()), model.start());
  const bool all_end = report.num_closed_classes() == static_cast<int>(report.absorbing.size());
  if (!all_end || report.num_classes() == report.num_closed_classes()) return {};
  std::vector<std::string> names;
  for (const State state : report.absorbing) names.push_back(model.states()[state.value()]);
  return fmt::format(
      "sooner or later the system stays in {} for ever, and the average over all time counts only "
      "that",
      fmt::join(names, " or "));
}

std::string long_run_note(const Plan& plan) {
  if (plan.discounted || plan.horizon) return {};
  const std::string end = about_the_end(plan.model);
  return end.empty() ? end : end + ": --discount and --horizon plan for the time before";
}

}  // namespace oas
