#include "oas/model/belief.hpp"

#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

Belief::Belief(std::vector<double> values) : values_(std::move(values)) {
  check_simplex(values_, "belief");
}

double Belief::operator[](int state) const {
  check_state(State{state}, num_states());
  return values_[static_cast<std::size_t>(state)];
}

Belief Belief::uniform(int num_states) {
  OAS_REQUIRE(num_states >= 1, "a belief over {} states", num_states);
  return Belief(std::vector<double>(static_cast<std::size_t>(num_states), 1.0 / num_states));
}

}  // namespace oas
