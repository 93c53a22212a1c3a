#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/json_text.hpp"

namespace oas {

/// When the pooled agent starts a new episode. The first has a length of its own; a later one ends
/// when something has grown by a factor since it began: the number of steps, or that of the plays
/// of some action (an action never played before ends it when it is).
class PooledSchedule {
 public:
  enum class GrowBy { steps, plays };

  struct Options {
    std::int64_t first_episode = 2;  ///< steps; at least 1
    GrowBy grow_by = GrowBy::steps;
    double growth = 1.25;  ///< > 1
  };

  PooledSchedule(int num_actions, const Options& options);

  /// Whether the step to come belongs to a new episode; so it is before the first step.
  [[nodiscard]] bool over() const;
  /// The step to come is the first of a new episode.
  void start();
  /// A step was made.
  void play(Action action);

  /// Steps so far.
  [[nodiscard]] std::int64_t step() const { return step_; }
  /// Index of the current episode, -1 before the first.
  [[nodiscard]] std::int64_t episode() const { return episode_; }
  /// Steps of the current episode; 0: decided on the way.
  [[nodiscard]] std::int64_t length() const;
  /// [a]: steps so far that played it.
  [[nodiscard]] std::span<const std::int64_t> plays() const { return plays_; }

  [[nodiscard]] nlohmann::ordered_json save() const;
  /// Throws ParseError unless a schedule with these options can stand there.
  void load(const JsonView& state);

 private:
  [[nodiscard]] bool grows_by_steps() const {
    return options_.grow_by == GrowBy::steps || episode_ == 0;
  }
  void load_start(const JsonView& state);

  Options options_;
  std::int64_t step_ = 0;
  std::int64_t episode_ = -1;
  std::int64_t start_ = 0;              // first step of the current episode
  std::vector<std::int64_t> plays_;     // [a]
  std::vector<std::int64_t> at_start_;  // [a]: plays before the current episode
};

/// By how much a count has to grow to be `growth` times as large: at least 1.
[[nodiscard]] std::int64_t growth_of(std::int64_t count, double growth);

}  // namespace oas
