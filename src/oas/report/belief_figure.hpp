#pragma once

#include <span>
#include <string>

#include "oas/model/pomdp.hpp"
#include "oas/report/log_review.hpp"

namespace oas {

/// The state of some units along their rows: the probability of every state given the whole log,
/// stacked, over a strip that shows the actions other than the commonest one.
[[nodiscard]] std::string belief_history_svg(const Pomdp& model,
                                             std::span<const UnitHistory> histories);

}  // namespace oas
