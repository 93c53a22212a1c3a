#include "oas/learning/acting_options.hpp"

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

void ActingOptions::validate(const Pomdp& sensors) const {
  if (iota) check_floor(*iota, sensors.num_actions());
  check_ranges(*this);
}

int ActingOptions::grid_resolution(int num_states) const {
  return resolution > 0 ? resolution : resolution_for(num_states, kDefaultPoints);
}

RviOptions ActingOptions::planner(double floor) const {
  RviOptions options;
  options.iota = floor;
  options.span_tolerance = span_tolerance;
  return options;
}

int resolution_for(int num_states, std::size_t max_points) {
  constexpr int kFinest = 1000;  // S = 2 would go on for ever
  int resolution = 2;
  while (resolution < kFinest &&
         BeliefGrid::num_points(num_states, resolution + 1) <= static_cast<double>(max_points)) {
    ++resolution;
  }
  return resolution;
}

}  // namespace oas
