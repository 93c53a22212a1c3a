#include "oas/live/detail/live_answers.hpp"

#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

Json label(const Labels& labels, int element) {
  if (labels.has_names()) return labels[element];
  return element;
}

Json numbers_or_null(const std::vector<double>& values) {
  return values.empty() ? Json(nullptr) : Json(values);
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// [a][s][s'] of a flat table; NaN becomes null.
Json nested(std::span<const double> values, int num_actions, int num_states) {
  const double* next = values.data();
  Json table = Json::array();
  for (int a = 0; a < num_actions; ++a) {
    Json matrix = Json::array();
    for (int s = 0; s < num_states; ++s) {
      Json row = Json::array();
      for (int i = 0; i < num_states; ++i, ++next) {
        row.push_back(number_or_null(*next));
      }
      matrix.push_back(std::move(row));
    }
    table.push_back(std::move(matrix));
  }
  return table;
}

}  // namespace

Json labels_of(const Labels& labels) {
  Json all = Json::array();
  for (int i = 0; i < labels.size(); ++i) all.push_back(label(labels, i));
  return all;
}

Json act_answer(const LiveState& state, const LiveUnit& unit) {
  Json answer = {{"unit", unit.name},
                 {"run", unit.runs},
                 {"step", unit.step},
                 {"action", label(state.model().actions(), unit.choice.action)},
                 {"propensity", unit.choice.propensity},
                 {"belief", numbers_or_null(unit.belief)}};
  answer["expected_reward"] = unit.belief.empty() ? Json(nullptr) : Json(unit.reward);
  return answer;
}

Json observe_answer(const LiveUnit& unit) {
  return {{"unit", unit.name}, {"run", unit.runs}, {"step", unit.step}};
}

Json unit_answer(const LiveState& state, const LiveUnit& unit) {
  Json answer = {{"unit", unit.name},
                 {"run", unit.runs},
                 {"ended", unit.ended},
                 {"step", unit.step},
                 {"next", nullptr},
                 {"action", nullptr},
                 {"belief", numbers_or_null(unit.belief)},
                 {"rows", unit.rows},
                 {"missing", unit.missing},
                 {"impossible", unit.impossible}};
  if (!unit.ended) answer["next"] = unit.acted || unit.step < 0 ? "observe" : "act";
  if (unit.acted) answer["action"] = label(state.model().actions(), unit.choice.action);
  return answer;
}

Json units_answer(const LiveState& state, const LiveRequest& request) {
  Json list = Json::array();
  auto next = state.units().upper_bound(request.after);
  for (; next != state.units().end() && list.size() < static_cast<std::size_t>(request.limit);
       ++next) {
    list.push_back(unit_answer(state, next->second));
  }
  Json answer = {{"units", std::move(list)}};
  answer["more"] = next != state.units().end();
  return answer;
}

PlanView plan_view(const LiveState& state) {
  PlanView view{state.shared_policy(), state.plays(), state.rows(), std::nullopt};
  if (state.learns()) view.next_plan_at = state.next_plan_at();
  return view;
}

Json estimate_answer(const Pomdp& model, const PlanView& view) {
  OAS_REQUIRE(view.next_plan_at.has_value(), "this agent estimates nothing");
  const LivePlan* const plan = view.policy ? &view.policy->plan() : nullptr;
  Json answer = {{"states", labels_of(model.states())},
                 {"actions", labels_of(model.actions())},
                 {"rows", plan == nullptr ? 0 : plan->rows},
                 {"transition", nullptr},
                 {"standard_error", nullptr},
                 {"counts", nullptr},
                 {"plays", view.plays}};
  if (plan == nullptr) return answer;
  const auto table = [&](std::span<const double> values) {
    return values.empty() ? Json(nullptr) : nested(values, model.num_actions(), model.num_states());
  };
  answer["transition"] = table(plan->estimate.values());
  answer["standard_error"] = table(plan->standard_error);
  answer["counts"] = table(plan->counts);
  answer["flagged_rows"] = plan->flagged_rows;
  answer["fit_p_value"] = number_or_null(plan->fit_p_value);
  if (!plan->failure.empty()) answer["warning"] = plan->failure;
  return answer;
}

Json history_answer(const Pomdp& model, const LiveHistory& history, const LiveRequest& request) {
  const auto entry = static_cast<std::size_t>(
      (request.action.value() * model.num_states() + request.from.value()) * model.num_states() +
      request.to.value());
  Json answer;
  for (const char* key : {"plan", "rows", "value", "standard_error", "gain", "optimistic_gain"}) {
    answer[key] = Json::array();
  }
  for (const auto& shared : history.points()) {
    const LiveHistory::Point& point = *shared;
    const std::vector<double>& errors = point.standard_errors;
    answer["plan"].push_back(point.plan);
    answer["rows"].push_back(point.rows);
    answer["value"].push_back(number_or_null(point.values[entry]));
    answer["standard_error"].push_back(errors.empty() ? nullptr : number_or_null(errors[entry]));
    answer["gain"].push_back(number_or_null(point.gain));
    answer["optimistic_gain"].push_back(number_or_null(point.optimistic_gain));
  }
  return answer;
}

Json plan_answer(const Pomdp& model, const PlanView& view) {
  Json answer = {{"plan", nullptr}, {"rows", view.rows}, {"next_plan_at", nullptr}};
  if (view.next_plan_at) answer["next_plan_at"] = *view.next_plan_at;
  if (!view.policy) return answer;
  const LivePlan& plan = view.policy->plan();
  answer["plan"] = {
      {"number", plan.number},
      {"rows", plan.rows},
      {"gain", plan.gain},
      {"optimistic_gain", plan.optimistic_gain},
      {"radius", plan.radius},
      {"status", plan.status},
      {"floor", view.policy->floor()},
      {"transition", nested(plan.transition.values(), model.num_actions(), model.num_states())}};
  return answer;
}

ForecastView forecast_view(const LiveState& state, const LiveUnit& unit,
                           const LiveRequest& request) {
  ForecastView view{state.shared_policy(), observe_answer(unit), {}, {}};
  OAS_REQUIRE(!unit.ended, "unit '{}': its run has ended", unit.name);
  view.belief = state.belief_now(unit);
  OAS_REQUIRE(view.policy != nullptr && !view.belief.empty(),
              "unit '{}': there is no belief to forecast from yet", unit.name);
  ForecastQuestion& question = view.question;
  question.steps = request.horizon;
  question.schedule = request.schedule;
  if (question.schedule.empty()) {
    OAS_REQUIRE(unit.acted, "unit '{}': \"actions\" says which actions are to come", unit.name);
    question.schedule = {unit.choice.action};
  }
  question.reach = request.reach;
  return view;
}

Json forecast_answer(const ForecastView& view) {
  const TransitionModel& dynamics = view.policy->plan().estimate;
  const Forecast forecast = Forecaster(dynamics, view.question)(view.belief);
  Json answer = view.about;
  Json table = Json::array();
  const auto num_states = static_cast<std::ptrdiff_t>(dynamics.num_states());
  for (auto at = forecast.states.begin(); at != forecast.states.end(); at += num_states) {
    table.push_back(std::vector<double>(at, at + num_states));
  }
  answer["states"] = std::move(table);
  if (view.question.reach.empty()) return answer;
  answer["survival"] = forecast.survival;
  answer["ever"] = forecast.ever;
  answer["mean_steps"] = number_or_null(forecast.mean_steps);
  return answer;
}

}  // namespace oas::detail
