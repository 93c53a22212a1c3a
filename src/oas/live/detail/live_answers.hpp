#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "oas/belief/forecast.hpp"
#include "oas/live/detail/live_request.hpp"
#include "oas/live/detail/live_state.hpp"

/// Answers as JSON, without "ok". They ask and change nothing.
namespace oas::detail {

using Json = nlohmann::ordered_json;

/// Names, or numbers where there are none.
[[nodiscard]] Json labels_of(const Labels& labels);
[[nodiscard]] Json act_answer(const LiveState& state, const LiveUnit& unit);
[[nodiscard]] Json observe_answer(const LiveUnit& unit);
/// One unit as `status` shows it.
[[nodiscard]] Json unit_answer(const LiveState& state, const LiveUnit& unit);
/// Units by name, those after request.after, and what there is of them.
[[nodiscard]] Json units_answer(const LiveState& state, const LiveRequest& request);
/// What `estimate` and `plan` show, taken in a moment: their answers are then made of it while the
/// state goes on. Large models have large tables.
struct PlanView {
  std::shared_ptr<const LivePolicy> policy;  ///< its plan; null: none
  std::vector<std::int64_t> plays;
  std::int64_t rows = 0;
  std::optional<std::int64_t> next_plan_at;  ///< of agents that learn
};
[[nodiscard]] PlanView plan_view(const LiveState& state);
/// Throws InvalidArgument where nothing is estimated.
[[nodiscard]] Json estimate_answer(const Pomdp& model, const PlanView& view);
/// One entry of T, its error and the gain at every plan; null where unknown.
[[nodiscard]] Json history_answer(const Pomdp& model, const LiveHistory& history,
                                  const LiveRequest& request);
[[nodiscard]] Json plan_answer(const Pomdp& model, const PlanView& view);
/// What a forecast starts from, taken in a moment.
struct ForecastView {
  std::shared_ptr<const LivePolicy> policy;
  Json about;  ///< the unit, its run and step
  std::vector<double> belief;
  ForecastQuestion question;
};
/// Throws InvalidArgument where there are no dynamics, or no belief.
[[nodiscard]] ForecastView forecast_view(const LiveState& state, const LiveUnit& unit,
                                         const LiveRequest& request);
[[nodiscard]] Json forecast_answer(const ForecastView& view);

}  // namespace oas::detail
