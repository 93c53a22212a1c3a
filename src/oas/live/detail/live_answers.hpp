#pragma once

#include <nlohmann/json.hpp>

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
[[nodiscard]] Json estimate_answer(const LiveState& state);
/// One entry of T, its error and the gain at every plan; null where unknown.
[[nodiscard]] Json history_answer(const LiveState& state, const LiveRequest& request);
[[nodiscard]] Json plan_answer(const LiveState& state);
/// Throws InvalidArgument where there are no dynamics, or no belief.
[[nodiscard]] Json forecast_answer(const LiveState& state, const LiveUnit& unit,
                                   const LiveRequest& request);

}  // namespace oas::detail
