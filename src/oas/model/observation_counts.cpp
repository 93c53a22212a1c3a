#include "oas/model/observation_counts.hpp"

#include <cmath>
#include <numeric>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

ObservationCounts::ObservationCounts(int num_states, int num_actions, int num_observations,
                                     std::vector<double> values, std::string_view what)
    : num_states_(num_states),
      num_actions_(num_actions),
      num_observations_(num_observations),
      shared_(false),
      values_(std::move(values)) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1 && num_observations >= 1,
              "{}: {} states, {} actions and {} observations", what, num_states, num_actions,
              num_observations);
  const std::size_t table = table_size({num_states, num_observations});
  shared_ = num_actions > 1 && values_.size() == table;
  OAS_REQUIRE(shared_ || values_.size() == table_size({num_states, num_observations, num_actions}),
              "{}: {} values for {} actions, {} states and {} observations", what, values_.size(),
              num_actions, num_states, num_observations);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(num_observations);
    OAS_REQUIRE(values_[i] >= 0.0 && std::isfinite(values_[i]),
                "{}: entry {} of row {} is {}; it must be a number of rows", what,
                i % static_cast<std::size_t>(num_observations), row, values_[i]);
  }
}

std::span<const double> ObservationCounts::distribution(Action action, State state) const {
  check_action(action, num_actions_);
  check_state(state, num_states_);
  const auto row =
      (shared_ ? std::size_t{0}
               : static_cast<std::size_t>(action) * static_cast<std::size_t>(num_states_)) +
      static_cast<std::size_t>(state);
  const auto width = static_cast<std::size_t>(num_observations_);
  return std::span(values_).subspan(row * width, width);
}

double ObservationCounts::total(Action action, State state) const {
  const auto row = distribution(action, state);
  return std::accumulate(row.begin(), row.end(), 0.0);
}

double ObservationCounts::total() const {
  return std::accumulate(values_.begin(), values_.end(), 0.0);
}

}  // namespace oas
