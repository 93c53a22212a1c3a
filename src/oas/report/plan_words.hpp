#pragma once

#include <string>
#include <vector>

#include "oas/planning/plan.hpp"

namespace oas {

/// What a plan was made for and promises, in words for people who do not plan. Rewards are those of
/// the user: the penalty of a limit is not in them.
struct PlanWords {
  std::vector<std::string> answer;   ///< one or two sentences for the top of a page
  std::vector<std::string> details;  ///< the same with where each figure comes from
  std::string fact;                  ///< one line for experts
};
[[nodiscard]] PlanWords words_of(const Plan& plan);

}  // namespace oas
