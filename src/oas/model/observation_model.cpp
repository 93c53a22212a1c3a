#include "oas/model/observation_model.hpp"

#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/model/detail/no_such_row.hpp"

namespace oas {

ObservationModel::ObservationModel(int num_states, int num_actions, int num_observations,
                                   std::vector<double> values, std::string_view what)
    : num_states_(num_states),
      num_actions_(num_actions),
      num_observations_(num_observations),
      values_(std::move(values)) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1 && num_observations >= 1,
              "{}: {} states, {} actions and {} observations", what, num_states, num_actions,
              num_observations);
  const std::size_t block = table_size({num_states, num_observations});
  OAS_REQUIRE(values_.size() == table_size({num_states, num_observations, num_actions}),
              "{}: {} values for {} actions, {} states and {} observations", what, values_.size(),
              num_actions, num_states, num_observations);
  for (int a = 0; a < num_actions; ++a) {
    check_row_stochastic(std::span(values_).subspan(static_cast<std::size_t>(a) * block, block),
                         num_observations, fmt::format("{}[{}]", what, a));
  }
}

void ObservationModel::refuse_row(Action action, State state) const {
  detail::throw_no_such_row(action, num_actions_, state, num_states_);
}

double ObservationModel::at(Action action, State state, Observation observation) const {
  require_row(action, state);
  OAS_REQUIRE(observation >= 0 && observation < num_observations_,
              "observation is {}; there are {} observations", observation.value(),
              num_observations_);
  return (*this)(action, state, observation);
}

std::optional<Action> ObservationModel::action_that_differs() const {
  for (Action a{1}; a < num_actions_; ++a) {
    if (matrix(a) != matrix(Action{0})) return a;
  }
  return {};
}

}  // namespace oas
