#pragma once

#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/theory/communication.hpp"

namespace oas::detail {

/// Steps that cannot go on for ever: an action in a state of a class that is not closed, from which
/// it may leave the class. However rarely it does, it will, and there is no way back.
class TransientSteps {
 public:
  /// `report` is that of the model.
  TransientSteps(const Pomdp& model, const CommunicationReport& report);

  [[nodiscard]] bool operator()(Action action, State state) const {
    return !leaves_.empty() && leaves_[static_cast<std::size_t>(action.value()) * num_states_ +
                                       static_cast<std::size_t>(state.value())] != 0;
  }
  /// The least expected reward of a step in the classes that are never left.
  [[nodiscard]] double least_reward_in_the_end() const { return least_; }
  [[nodiscard]] double most_reward_in_the_end() const { return most_; }

 private:
  std::size_t num_states_;
  std::vector<char> leaves_;  // [a][s]; empty: all states are in closed classes
  double least_ = 0.0;
  double most_ = 0.0;
};

}  // namespace oas::detail
