#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "oas/belief/filter_kernel.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/environment.hpp"

/// The policies that make logs. Each is an Agent. With floor ι every action keeps probability at
/// least ι: the greedy one gets 1-(A-1)ι, the others ι each.
namespace oas {

/// 1/(10A), the paper's floor.
[[nodiscard]] constexpr double default_floor(int num_actions) { return 0.1 / num_actions; }

/// Throws InvalidArgument unless 0 <= floor <= 1/A.
void check_floor(double floor, int num_actions);

/// Mixes a greedy action with exploration: one draw u; u < Aι picks action ⌊u/ι⌋, else greedy.
[[nodiscard]] inline Choice explore(int greedy, double floor, int num_actions, Rng& rng) {
  const double u = rng.uniform();
  int action = greedy;
  if (u < floor * num_actions) action = std::min(static_cast<int>(u / floor), num_actions - 1);
  return {Action{action}, action == greedy ? 1.0 - (num_actions - 1) * floor : floor};
}

/// Every action with probability 1/A, whatever was seen.
class UniformPolicy {
 public:
  explicit UniformPolicy(int num_actions) : num_actions_(num_actions) {}
  Choice act(Rng& rng) {
    return {Action{rng.below(static_cast<std::uint32_t>(num_actions_))}, 1.0 / num_actions_};
  }
  void begin(const auto& /*reading*/) {}
  void observe(const auto& /*observation*/) {}

 private:
  int num_actions_;
};

/// Actions 0, 1, …, A-1, 0, … in turn.
class RoundRobinPolicy {
 public:
  explicit RoundRobinPolicy(int num_actions) : num_actions_(num_actions) {}
  Choice act(Rng& /*rng*/) {
    const Action action{next_};
    next_ = next_ + 1 == num_actions_ ? 0 : next_ + 1;
    return {action, 1.0};
  }
  void begin(const auto& /*reading*/) {}
  void observe(const auto& /*observation*/) {}

 private:
  int num_actions_;
  int next_ = 0;
};

/// Greedy on the expected reward of the next step under a belief kept with its own, possibly wrong,
/// transition model, with floor ι: the paper's logging policy. Ties go to the lowest action.
template <int N>
class BeliefPolicy {
 public:
  BeliefPolicy(const Pomdp& model, const TransitionModel& own, double floor)
      : kernel_(model, own, expected_reward(model.reward(), model.timing(), model.sensors(), &own)),
        num_actions_(model.num_actions()),
        floor_(floor),
        scores_(static_cast<std::size_t>(kernel_.score_storage())),
        scratch_(static_cast<std::size_t>(kernel_.stride())) {
    check_floor(floor, num_actions_);
    if constexpr (N == 0) belief_.resize(scratch_.size());
    std::fill(belief_.begin(), belief_.end(), 0.0);
    std::copy(model.start().begin(), model.start().end(), belief_.begin());
    kernel_.score(belief_.data(), scores_.data());
    first_sensor_ = model.first_observation();
  }

  /// Where rows are reading-first.
  void begin(Observation first) {
    const std::vector<double> start(belief().begin(), belief().end());
    RunStart().with(first_reading(*first_sensor_, first)).belief(start, belief_);
    kernel_.score(belief_.data(), scores_.data());
  }

  Choice act(Rng& rng) {
    int greedy = 0;
    double best = scores_[0];
    for (int a = 1; a < num_actions_; ++a) {
      const bool better = scores_[static_cast<std::size_t>(a)] > best;
      greedy = better ? a : greedy;
      best = better ? scores_[static_cast<std::size_t>(a)] : best;
    }
    const Choice choice = explore(greedy, floor_, num_actions_, rng);
    last_ = choice.action;
    return choice;
  }

  void observe(Observation observation) {
    kernel_.update(belief_.data(), last_, observation, scores_.data(), scratch_.data());
  }

  [[nodiscard]] std::span<const double> belief() const {
    return {belief_.data(), static_cast<std::size_t>(kernel_.num_states())};
  }

 private:
  FilterKernel<N> kernel_;
  std::optional<ObservationModel> first_sensor_;
  int num_actions_;
  double floor_;
  Action last_;
  typename FilterKernel<N>::BeliefStorage belief_;
  std::vector<double> scores_;
  std::vector<double> scratch_;
};

/// A function of the last action and observation only: greedy on the belief that the last row alone
/// gives, starting from uniform, with floor ι.
class MemorylessPolicy {
 public:
  MemorylessPolicy(const Pomdp& model, const TransitionModel& own, double floor);
  /// Where rows are reading-first.
  void begin(Observation first) { greedy_now_ = first_[static_cast<std::size_t>(first)]; }
  Choice act(Rng& rng) {
    const Choice choice = explore(greedy_now_, floor_, num_actions_, rng);
    last_ = choice.action;
    return choice;
  }
  void observe(Observation observation) {
    greedy_now_ = greedy_[static_cast<std::size_t>(last_ * num_observations_ + observation)];
  }

  /// The greedy action after (action, observation).
  [[nodiscard]] Action greedy(Action action, Observation observation) const {
    return Action{greedy_[static_cast<std::size_t>(action * num_observations_ + observation)]};
  }

 private:
  int num_actions_;
  int num_observations_;
  double floor_;
  std::vector<int> greedy_;  // [a][o]
  std::vector<int> first_;   // [o], after a first reading
  int greedy_now_ = 0;
  Action last_;
};

/// BeliefPolicy, or its memoryless counterpart, for real-valued observations: the belief is kept by
/// likelihoods. Rewards are those expected under the chain's own dynamics, and the first action is
/// greedy on the start even without memory. Ties go to the lowest action.
class LikelihoodPolicy {
 public:
  LikelihoodPolicy(const Pomdp& chain, const TransitionModel& own, double floor, bool memoryless);
  Choice act(Rng& rng) {
    const Choice choice = explore(greedy(), floor_, num_actions_, rng);
    last_ = choice.action;
    return choice;
  }
  /// Where rows are reading-first.
  void begin(const SensorReading& first) {
    const RunStart start = memoryless_ ? RunStart::unknown() : RunStart();
    filter_.reset(
        start.with({Observation{0}, {}, {first.likelihoods.begin(), first.likelihoods.end()}}));
  }
  void observe(const SensorReading& reading) {
    if (memoryless_) filter_.reset(uniform_);
    filter_.update(last_, reading.likelihoods);
  }

 private:
  [[nodiscard]] int greedy() const;

  int num_actions_;
  double floor_;
  bool memoryless_;
  LikelihoodFilter filter_;
  std::vector<double> rewards_;  // [a][s], expected
  std::vector<double> uniform_;
  Action last_;
};

}  // namespace oas
