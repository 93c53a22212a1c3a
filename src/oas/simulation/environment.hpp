#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

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

  /// The first reading of a run, and what it says; only where rows are reading-first.
  std::pair<Observation, FirstReading> show_first(State state, Rng& rng) {
    const Observation seen = show_first(state, rng.bits());
    return {seen, first_reading(*first_sensor_, seen)};
  }

  Observation show(Action action, State state, Rng& rng) { return show(action, state, rng.bits()); }

  /// Both with a given draw of the stream.
  [[nodiscard]] Observation show_first(State state, std::uint64_t bits) const {
    return Observation{first_->sample(state, bits)};
  }
  [[nodiscard]] Observation show(Action action, State state, std::uint64_t bits) const {
    return Observation{observations_.sample(action * num_states_ + state, bits)};
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
  std::optional<AliasTables> first_;
  std::optional<ObservationModel> first_sensor_;
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

  std::pair<SensorReading, FirstReading> show_first(State state, Rng& rng) {
    (*first_)(Action{0}, state).sample(reading_, rng);
    first_->likelihood(Action{0}, reading_, likelihoods_);
    return {{reading_, likelihoods_}, {Observation{0}, reading_, likelihoods_}};
  }

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
  std::optional<DensitySensors> first_;
  std::vector<double> rewards_;
  std::vector<double> reading_;
  std::vector<double> likelihoods_;
};

/// The true system: holds the hidden state and answers actions. One draw makes the start state;
/// where rows are reading-first, one for each component makes the first reading of it; two make a
/// step, or one and one for each component of a real-valued observation, in the order in which
/// things happen (observation, then next state in `before` timing, the other way round in `after`),
/// whatever the agent does: runs of different agents share their random numbers step by step.
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
        reading_first_(Answers::chain(model).reading_first()),
        num_states_(model.num_states()),
        num_actions_(model.num_actions()),
        transitions_(detail::transition_samplers(Answers::chain(model).transition())),
        answers_(model),
        rng_(rng),
        state_(sample_categorical(Answers::chain(model).start(), rng_)) {}

  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] bool has(Action action) const {
    return static_cast<std::uint32_t>(action) < static_cast<std::uint32_t>(num_actions_);
  }

  /// The action must exist; play() sees to it.
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

  /// Whether there is a first reading that was not shown yet.
  [[nodiscard]] bool opens() const { return reading_first_ && start_.first() == nullptr; }
  /// Shows it; before the first step, where opens().
  Reading open() {
    auto [seen, first] = answers_.show_first(state_, rng_);
    start_ = start_.with(std::move(first));
    return seen;
  }
  /// How the run started: with the first reading, once that was shown.
  [[nodiscard]] const RunStart& start() const { return start_; }

  /// The state in which the next action will be taken.
  [[nodiscard]] State state() const { return state_; }

 private:
  Timing timing_;
  bool reading_first_;
  RunStart start_;
  int num_states_;
  int num_actions_;
  AliasTables transitions_;  // row a·S + s
  Answers answers_;
  Rng rng_;
  State state_;
};

using Environment = EnvironmentOf<FiniteAnswers>;
using ContinuousEnvironment = EnvironmentOf<RealAnswers>;

}  // namespace oas
