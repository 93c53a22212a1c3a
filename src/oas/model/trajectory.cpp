#include "oas/model/trajectory.hpp"

namespace oas {

void Trajectory::clear() {
  actions.clear();
  observations.clear();
  propensities.clear();
  rewards.clear();
  states.clear();
}

void Trajectory::resize(std::size_t rows) {
  actions.resize(rows);
  observations.resize(rows);
  propensities.resize(rows);
  rewards.resize(rows);
  states.resize(rows);
}

}  // namespace oas
