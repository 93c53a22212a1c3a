#include "oas/learning/pooled_ucrl.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/learning/optimistic_planning.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

void PooledUcrlOptions::validate(const Pomdp& sensors) const {
  acting.validate(sensors);
  OAS_REQUIRE(first_episode >= 2, "first_episode is {}; at least 2 steps are needed",
              first_episode);
  OAS_REQUIRE(delta > 0.0 && delta < 1.0, "delta is {}; it must lie in (0, 1)", delta);
  OAS_REQUIRE(radius_scale >= 0.0, "radius_scale is {}; it must not be negative", radius_scale);
  OAS_REQUIRE(growth > 1.0, "growth is {}; it must be above 1", growth);
}

PooledUcrl::PooledUcrl(const Pomdp& sensors, const PooledUcrlOptions& options)
    : options_((options.validate(sensors), options)),
      least_floor_(options.acting.iota.value_or(
          sensors.timing() == Timing::before ? 0.0 : default_floor(sensors.num_actions()))),
      floor_(least_floor_),
      moments_(sensors, Pairing::overlapping),
      controller_(sensors, options.acting.grid_resolution(sensors.num_states())) {}

Choice PooledUcrl::act(Rng& rng) {
  if (step_ == episode_end_) start_episode();
  last_ = controller_.act(floor_, rng);
  return last_;
}

void PooledUcrl::observe(Observation observation) {
  moments_.add(last_, observation);
  controller_.observe(last_.action, observation);
  ++step_;
}

void PooledUcrl::probabilities(std::span<double> out) {
  if (step_ == episode_end_) start_episode();
  controller_.probabilities(floor_, out);
}

void PooledUcrl::start_episode() {
  ++episode_;
  Episode episode;
  episode.start = step_;
  episode.length = options_.first_episode;
  episode.status = "uniform";
  const int num_actions = controller_.sensors().num_actions();
  if (episode_ > 0) {
    episode.length = std::max<std::int64_t>(
        1,
        static_cast<std::int64_t>(std::ceil(static_cast<double>(step_) * (options_.growth - 1.0))));
    floor_ = std::max(
        least_floor_,
        std::min(1.0 / num_actions, options_.exploration / std::sqrt(static_cast<double>(step_))));
    const TransitionEstimate estimate = moments_.estimate(controller_.sensors(), episode);
    plan_optimistically(estimate.transition, radii(estimate.visits),
                        options_.acting.planner(floor_), controller_, episode);
  }
  episode_end_ = step_ + episode.length;
  episodes_.push_back(std::move(episode));
}

std::vector<double> PooledUcrl::radii(const std::vector<double>& visits) const {
  const auto num_states = static_cast<std::size_t>(controller_.sensors().num_states());
  std::vector<double> radius(visits.size(), 0.0);
  if (options_.radius_scale == 0.0) return radius;
  const double k = static_cast<double>(episode_);
  const double delta = options_.delta / (k * k * k);
  for (std::size_t row = 0; row < radius.size(); ++row) {
    const double alpha = moments_.inverses().alpha(Action{static_cast<int>(row / num_states)});
    const double count = std::max(visits[row], 1.0);
    radius[row] =
        std::min(1.0, options_.radius_scale / (alpha * alpha) *
                          std::sqrt(static_cast<double>(num_states) *
                                    std::log(static_cast<double>(radius.size()) / delta) / count));
  }
  return radius;
}

Json PooledUcrl::save() const {
  return {{"step", step_},
          {"episode", episode_},
          {"episode_end", episode_end_},
          {"floor", floor_},
          {"action", last_.action.value()},
          {"propensity", last_.propensity},
          {"moments", moments_.save()},
          {"controller", controller_.save()}};
}

void PooledUcrl::load(const JsonView& state) {
  step_ = state.at("step").as_integer();
  episode_ = state.at("episode").as_integer();
  episode_end_ = state.at("episode_end").as_integer();
  floor_ = state.at("floor").as_double();
  last_ = {Action{state.at("action").as_integer()}, state.at("propensity").as_double()};
  moments_.load(state.at("moments"));
  controller_.load(state.at("controller"));
  episodes_.clear();
}

}  // namespace oas
