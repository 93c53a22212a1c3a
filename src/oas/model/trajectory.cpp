#include "oas/model/trajectory.hpp"

namespace oas {

void Trajectory::clear() {
  actions.clear();
  observations.clear();
  propensities.clear();
  rewards.clear();
  states.clear();
}

}  // namespace oas
