#include "oas/learning/pooled_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "oas/learning/detail/saved_state.hpp"

namespace oas {

namespace {

std::int64_t sum_of(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace

std::int64_t growth_of(std::int64_t count, double growth) {
  const double more = static_cast<double>(count) * (growth - 1.0);
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(std::ceil(more)));
}

PooledSchedule::PooledSchedule(int num_actions, const Options& options)
    : options_(options), plays_(static_cast<std::size_t>(num_actions), 0), at_start_(plays_) {}

bool PooledSchedule::over() const {
  if (episode_ < 0) return true;
  if (grows_by_steps()) return step_ == start_ + length();
  for (std::size_t a = 0; a < plays_.size(); ++a) {
    if (plays_[a] - at_start_[a] >= growth_of(at_start_[a], options_.growth)) return true;
  }
  return false;
}

void PooledSchedule::start() {
  ++episode_;
  start_ = step_;
  at_start_ = plays_;
}

void PooledSchedule::play(Action action) {
  ++plays_[static_cast<std::size_t>(action)];
  ++step_;
}

std::int64_t PooledSchedule::length() const {
  if (episode_ <= 0) return options_.first_episode;
  return grows_by_steps() ? growth_of(start_, options_.growth) : 0;
}

nlohmann::ordered_json PooledSchedule::save() const {
  return {{"episode", episode_}, {"start", start_}, {"plays", plays_}, {"at_start", at_start_}};
}

void PooledSchedule::load(const JsonView& state) {
  constexpr std::array<std::string_view, 4> kKeys = {"episode", "start", "plays", "at_start"};
  state.require_keys(kKeys);
  plays_ = detail::saved_counters(state.at("plays"), plays_.size(), detail::kMostSavedSteps);
  step_ = sum_of(plays_);
  episode_ = detail::saved_integer(state.at("episode"), -1);
  load_start(state);
  const JsonView before = state.at("at_start");
  at_start_ = detail::saved_counters(before, plays_.size(), start_);
  if (sum_of(at_start_) != start_) {
    before.fail(fmt::format("{} plays in {} steps", sum_of(at_start_), start_));
  }
  // Before the last step the episode was not over.
  for (std::size_t a = 0; a < plays_.size(); ++a) {
    const std::int64_t in_episode = plays_[a] - at_start_[a];
    const bool too_many =
        !grows_by_steps() && in_episode > growth_of(at_start_[a], options_.growth);
    if (in_episode < 0 || too_many) {
      before.at(a).fail(fmt::format("action {} cannot have {} plays now", a, plays_[a]));
    }
  }
}

// Where episodes that grow by steps begin and end follows from the options.
void PooledSchedule::load_start(const JsonView& state) {
  start_ = detail::saved_integer(state.at("start"), 0, step_);
  if (options_.grow_by == GrowBy::plays && episode_ > 0) {
    if (start_ < options_.first_episode) {
      state.at("start").fail(fmt::format("{} is within the first episode", start_));
    }
    return;
  }
  std::int64_t start = 0;
  std::int64_t end = episode_ < 0 ? 0 : options_.first_episode;
  for (std::int64_t k = 1; k <= episode_ && end <= step_; ++k) {
    start = end;
    end += growth_of(start, options_.growth);
  }
  if (start_ != start || step_ < start || step_ > end) {
    state.at("start").fail(fmt::format(
        "episode {} does not start at step {}, or has ended by step {}", episode_, start_, step_));
  }
}

}  // namespace oas
