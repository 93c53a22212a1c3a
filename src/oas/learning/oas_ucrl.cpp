#include "oas/learning/oas_ucrl.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/detail/saved_state.hpp"
#include "oas/learning/optimistic_planning.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/theory/estimation_bounds.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

void OasUcrlOptions::validate(const Pomdp& sensors) const {
  acting.validate(sensors);
  OAS_REQUIRE(!acting.iota || *acting.iota > 0.0,
              "iota is {}; oas-ucrl needs a positive floor: an action that an episode never plays "
              "could not be estimated from it",
              *acting.iota);
  check_ranges(*this);
}

OasUcrl::OasUcrl(const Pomdp& sensors, const OasUcrlOptions& options)
    : options_((options.validate(sensors), options)),
      floor_(options.acting.iota.value_or(default_floor(sensors.num_actions()))),
      moments_(sensors, Pairing::disjoint),
      controller_(sensors, options.acting.grid_resolution(sensors.num_states())) {}

Choice OasUcrl::act(Rng& rng) {
  prepare();
  last_ = controller_.act(floor_, rng);
  return last_;
}

void OasUcrl::observe(Observation observation) {
  check_observation(observation, controller_.sensors().num_observations());
  moments_.add(last_, observation);
  controller_.observe(last_.action, observation);
  ++step_;
}

void OasUcrl::prepare() {
  if (plan_due()) start_episode();
}

void OasUcrl::probabilities(std::span<double> out) { controller_.probabilities(floor_, out); }

void OasUcrl::start_episode() {
  ++episode_;
  Episode episode;
  episode.start = step_;
  episode.length = options_.first_episode << episode_;
  episode.status = "uniform";
  episode.floor = 1.0 / controller_.sensors().num_actions();
  if (episode_ > 0) {
    const TransitionEstimate estimate = moments_.estimate(controller_.sensors(), episode);
    const std::vector<double> radii(estimate.visits.size(), radius());
    plan_optimistically(estimate.transition, radii, options_.acting.planner(floor_), controller_,
                        episode);
    moments_.clear();
  }
  episode_end_ = step_ + episode.length;
  episodes_.push_back(std::move(episode));
}

// Of the episode that begins, from the one that has ended.
double OasUcrl::radius() const {
  if (options_.radius_scale == 0.0) return 0.0;
  const int num_states = controller_.sensors().num_states();
  const double k = static_cast<double>(episode_);
  OasRadiusInputs inputs;
  inputs.alpha = moments_.inverses().smallest_alpha();
  inputs.min_transition = options_.min_transition.value_or(0.2 / num_states);
  inputs.min_action_probability = floor_;
  inputs.start_ratio = options_.start_ratio;
  inputs.delta = options_.delta / (k * k * k);
  inputs.steps = static_cast<double>(options_.first_episode << (episode_ - 1));
  return std::min(1.0, options_.radius_scale * row_radius(oas_radius(inputs), num_states));
}

Json OasUcrl::save() const {
  return {{"step", step_},
          {"episode", episode_},
          {"episode_end", episode_end_},
          {"action", last_.action.value()},
          {"propensity", last_.propensity},
          {"moments", moments_.save()},
          {"controller", controller_.save()}};
}

void OasUcrl::load(const JsonView& state) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "step", "episode", "episode_end", "action", "propensity", "moments", "controller"};
  state.require_keys(kKeys);
  constexpr std::int64_t kMostEpisodes = 50;  // each is twice as long as the one before
  episode_ = detail::saved_integer(state.at("episode"), -1, kMostEpisodes);
  std::int64_t start = 0;
  std::int64_t end = 0;
  for (std::int64_t k = 0; k <= episode_; ++k) {
    start = end;
    if (start > detail::kMostSavedSteps) state.at("episode").fail("there are not that many steps");
    end += options_.first_episode << k;
  }
  episode_end_ = detail::saved_integer(state.at("episode_end"), end, end);
  step_ = detail::saved_integer(state.at("step"), start, end);
  last_ = detail::saved_choice(state, controller_.sensors().num_actions());
  moments_.load(state.at("moments"));
  controller_.load(state.at("controller"));
  episodes_.clear();
}

}  // namespace oas
