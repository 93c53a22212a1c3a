#include "oas/model/transition_model.hpp"

#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

TransitionModel::TransitionModel(int num_states, int num_actions, std::vector<double> values,
                                 std::string_view what)
    : num_states_(num_states), num_actions_(num_actions), values_(std::move(values)) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1, "{}: {} states and {} actions", what, num_states,
              num_actions);
  const auto block = static_cast<std::size_t>(num_states) * static_cast<std::size_t>(num_states);
  OAS_REQUIRE(values_.size() == block * static_cast<std::size_t>(num_actions),
              "{}: {} values for {} actions and {} states", what, values_.size(), num_actions,
              num_states);
  for (int a = 0; a < num_actions; ++a) {
    check_row_stochastic(std::span(values_).subspan(static_cast<std::size_t>(a) * block, block),
                         num_states, fmt::format("{}[{}]", what, a));
  }
}

TransitionModel TransitionModel::uniform(int num_states, int num_actions) {
  const std::size_t size = static_cast<std::size_t>(num_states) *
                           static_cast<std::size_t>(num_states) *
                           static_cast<std::size_t>(num_actions);
  return {num_states, num_actions, std::vector<double>(size, 1.0 / num_states)};
}

}  // namespace oas
