#pragma once

#include <memory>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

namespace detail {

/// One sampler per row a·S + s, of a table or of a list.
[[nodiscard]] AliasTables transition_samplers(const TransitionModel& transition);

}  // namespace detail

/// What a system with finite observations shows and pays. A row is a·S + s.
class FiniteAnswers {
 public:
  using Model = Pomdp;
  using Reading = Observation;

  static const Pomdp& chain(const Pomdp& model) { return model; }
  explicit FiniteAnswers(const Pomdp& model);

  Observation show(Action action, State state, Rng& rng) {
    return Observation{observations_.sample(action * num_states_ + state, rng)};
  }

  [[nodiscard]] double pay(int row, State next, Observation observation) const {
    switch (kind_) {
      case Reward::Kind::none:
        break;
      case Reward::Kind::by_observation:
        return rewards_[static_cast<std::size_t>(observation)];
      case Reward::Kind::by_action_state:
        return rewards_[static_cast<std::size_t>(row)];
      case Reward::Kind::by_transition:
        if (table_ != nullptr) return table_->row_at(row)(next)(observation);
        return rewards_[(static_cast<std::size_t>(row) * num_states_ + next) * num_observations_ +
                        observation];
    }
    return 0.0;
  }

 private:
  Reward::Kind kind_;
  int num_states_;
  int num_observations_;
  AliasTables observations_;
  std::vector<double> rewards_;
  std::shared_ptr<const RewardTable> table_;  // instead of rewards_ when R is large
};

/// A real-valued observation and what known sensors say about it. Valid until the next step.
struct SensorReading {
  std::span<const double> values;
  std::span<const double> likelihoods;  ///< p(values | s, action) for every state
};

/// What a system with real-valued observations shows and pays: rewards are the expected ones of
/// (action, state).
class RealAnswers {
 public:
  using Model = ContinuousPomdp;
  using Reading = SensorReading;

  static const Pomdp& chain(const ContinuousPomdp& model) { return model.chain(); }
  /// Throws InvalidArgument when the model has no densities.
  explicit RealAnswers(const ContinuousPomdp& model);

  SensorReading show(Action action, State state, Rng& rng) {
    sensors_(action, state).sample(reading_, rng);
    sensors_.likelihood(action, reading_, likelihoods_);
    return {reading_, likelihoods_};
  }

  [[nodiscard]] double pay(int row, State /*next*/, const SensorReading& /*reading*/) const {
    return rewards_[static_cast<std::size_t>(row)];
  }

 private:
  DensitySensors sensors_;
  std::vector<double> rewards_;
  std::vector<double> reading_;
  std::vector<double> likelihoods_;
};

/// The true system: holds the hidden state and answers actions. One draw makes the start state, two
/// make a step, or one and one for each component of a real-valued observation, in the order in
/// which things happen (observation, then next state in `before` timing, the other way round in
/// `after`), whatever the agent does: runs of different agents share their random numbers step by
/// step.
template <class Answers>
class EnvironmentOf {
 public:
  using Model = typename Answers::Model;
  using Reading = typename Answers::Reading;
  struct Outcome {
    Reading observation;
    double reward;
    State state;  ///< s_t, in which the action was taken
  };

  /// Throws InvalidArgument when the model has no transition model.
  EnvironmentOf(const Model& model, Rng rng)
      : timing_(model.timing()),
        num_states_(model.num_states()),
        transitions_(detail::transition_samplers(Answers::chain(model).transition())),
        answers_(model),
        rng_(rng),
        state_(sample_categorical(Answers::chain(model).start(), rng_)) {}

  // Draws are inlined: calls of them would cost a fifth of a step.
  [[gnu::flatten]] Outcome step(Action action) {
    const State now = state_;
    const int row = action * num_states_ + now;
    Reading seen;
    if (timing_ == Timing::before) {
      seen = answers_.show(action, now, rng_);
      state_ = State{transitions_.sample(row, rng_)};
    } else {
      state_ = State{transitions_.sample(row, rng_)};
      seen = answers_.show(action, state_, rng_);
    }
    return {seen, answers_.pay(row, state_, seen), now};
  }

  /// The state in which the next action will be taken.
  [[nodiscard]] State state() const { return state_; }

 private:
  Timing timing_;
  int num_states_;
  AliasTables transitions_;  // row a·S + s
  Answers answers_;
  Rng rng_;
  State state_;
};

using Environment = EnvironmentOf<FiniteAnswers>;
using ContinuousEnvironment = EnvironmentOf<RealAnswers>;

}  // namespace oas
