#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oas/core/index.hpp"

namespace oas {

/// When PSRL-POMDP starts a new episode. With t = 1, 2, … the step that comes next, t_k the first
/// step of episode k, T_{k-1} the length of the one before (T_0 = 1) and n_t(a) the pulls of a
/// before step t, episode k goes on while
///   t <= SCHED and n_t(a) <= 2 n_{t_k}(a) for every a,
///   SCHED = t_k + T_{k-1} (growing), or 2 t_k (doubling).
/// So an episode is longer than the one before by at most one step, and the first pull ever of an
/// action ends one (n_{t_k}(a) = 0). (Jafarnia-Jahromi, Jain, Nayyar, AISTATS 2022, Algorithm 1,
/// which calls t_k a length by a slip of the pen.)
class PsrlSchedule {
 public:
  enum class Kind { growing, doubling };

  PsrlSchedule(int num_actions, Kind kind)
      : kind_(kind), pulls_(static_cast<std::size_t>(num_actions), 0), pulls_at_start_(pulls_) {}

  /// Whether the step to come belongs to a new episode; so it is before the first step.
  [[nodiscard]] bool over() const {
    if (start_ == 0) return true;
    const std::int64_t last = kind_ == Kind::growing ? start_ + previous_length_ : 2 * start_;
    if (time_ > last) return true;
    for (std::size_t a = 0; a < pulls_.size(); ++a) {
      if (pulls_[a] > 2 * pulls_at_start_[a]) return true;
    }
    return false;
  }

  /// The step to come is the first of a new episode.
  void start() {
    previous_length_ = time_ - start_;
    start_ = time_;
    pulls_at_start_ = pulls_;
  }

  /// A step was made.
  void pull(Action action) {
    ++pulls_[static_cast<std::size_t>(action)];
    ++time_;
  }

  /// What save() must keep: time, start, previous length, pulls, pulls at the start.
  [[nodiscard]] std::vector<std::int64_t> state() const {
    std::vector<std::int64_t> numbers = {time_, start_, previous_length_};
    numbers.insert(numbers.end(), pulls_.begin(), pulls_.end());
    numbers.insert(numbers.end(), pulls_at_start_.begin(), pulls_at_start_.end());
    return numbers;
  }
  /// Takes over a state(); false, and nothing done, unless the numbers, none of them negative, can
  /// be that of a schedule for as many actions after so many steps.
  [[nodiscard]] bool set_state(const std::vector<std::int64_t>& numbers, std::int64_t steps) {
    const auto actions = static_cast<std::ptrdiff_t>(pulls_.size());
    if (static_cast<std::ptrdiff_t>(numbers.size()) != 3 + 2 * actions) return false;
    const auto pulls = numbers.begin() + 3;
    std::int64_t left = steps;
    for (std::ptrdiff_t a = 0; a < actions; ++a) {
      if (pulls[a] > left || pulls[actions + a] > pulls[a]) return false;
      left -= pulls[a];
    }
    if (left != 0 || numbers[0] != steps + 1) return false;
    if (numbers[1] > numbers[0] || numbers[2] > numbers[0]) return false;
    time_ = numbers[0];
    start_ = numbers[1];
    previous_length_ = numbers[2];
    std::copy_n(pulls, actions, pulls_.begin());
    std::copy_n(pulls + actions, actions, pulls_at_start_.begin());
    return true;
  }

 private:
  Kind kind_;
  std::int64_t time_ = 1;             // t
  std::int64_t start_ = 0;            // t_k
  std::int64_t previous_length_ = 0;  // T_{k-1}
  std::vector<std::int64_t> pulls_;
  std::vector<std::int64_t> pulls_at_start_;
};

}  // namespace oas
