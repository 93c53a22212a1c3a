#pragma once

#include <memory>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The true system: holds the hidden state and answers actions. One draw makes the start state, two
/// make a step (in the order in which things happen: observation, then next state in `before`
/// timing, the other way round in `after`), whatever the agent does: runs of different agents share
/// their random numbers step by step.
class Environment {
 public:
  struct Outcome {
    Observation observation;
    double reward;
    State state;  ///< s_t, in which the action was taken
  };

  /// Throws InvalidArgument when the model has no transition model.
  Environment(const Pomdp& model, Rng rng);

  Outcome step(Action action) {
    const State now = state_;
    const int row = action * num_states_ + now;
    const double* reward = nullptr;
    Observation observation;
    if (timing_ == Timing::before) {
      observation = Observation{observations_.sample(row, rng_)};
      state_ = State{transitions_.sample(row, rng_)};
    } else {
      state_ = State{transitions_.sample(row, rng_)};
      observation = Observation{observations_.sample(action * num_states_ + state_, rng_)};
    }
    switch (reward_kind_) {
      case Reward::Kind::none:
        return {observation, 0.0, now};
      case Reward::Kind::by_observation:
        reward = rewards_.data() + observation;
        break;
      case Reward::Kind::by_action_state:
        reward = rewards_.data() + row;
        break;
      case Reward::Kind::by_transition:
        if (reward_table_ != nullptr) {
          return {observation, reward_table_->row_at(row)(state_)(observation), now};
        }
        reward = rewards_.data() +
                 (static_cast<std::size_t>(row) * num_states_ + state_) * num_observations_ +
                 observation;
        break;
    }
    return {observation, *reward, now};
  }

  /// The state in which the next action will be taken.
  [[nodiscard]] State state() const { return state_; }

 private:
  Timing timing_;
  Reward::Kind reward_kind_;
  int num_states_;
  int num_observations_;
  AliasTables transitions_;   // row a*S+s
  AliasTables observations_;  // row a*S+s
  std::vector<double> rewards_;
  std::shared_ptr<const RewardTable> reward_table_;  // instead of rewards_ when R is large
  Rng rng_;
  State state_;
};

}  // namespace oas
