#include "oas/learning/seeu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/detail/record_estimate.hpp"
#include "oas/learning/detail/sample_radii.hpp"
#include "oas/learning/detail/saved_state.hpp"
#include "oas/learning/detail/triple_state.hpp"
#include "oas/learning/optimistic_planning.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

namespace {

int num_symbols(const Pomdp& sensors, ConstantViews views) {
  return views == ConstantViews::one_hot ? sensors.num_observations() : sensors.num_states();
}

TripleCounts empty_triples(const Pomdp& sensors, ConstantViews views) {
  const int size = num_symbols(sensors, views);
  return {sensors.num_actions(), {size, size, size}};
}

}  // namespace

void SeeuOptions::validate(const Pomdp& sensors) const {
  acting().validate(sensors);
  check_ranges(*this);
}

ActingOptions SeeuOptions::acting() const {
  ActingOptions acting;
  acting.iota = 0.0;
  acting.resolution = resolution;
  acting.span_tolerance = span_tolerance;
  return acting;
}

Seeu::Seeu(const Pomdp& sensors, const SeeuOptions& options)
    : options_((options.validate(sensors), options)),
      controller_(sensors, options.acting().grid_resolution(sensors.num_states())),
      triples_(empty_triples(sensors, options.views)),
      moments_(sensors, options.overlapping ? Pairing::overlapping : Pairing::disjoint) {}

bool Seeu::needs_hidden_state() const {
  return options_.views == ConstantViews::emission_columns &&
         options_.estimator == SeeuEstimator::spectral;
}

Action Seeu::explored() const { return Action{(step_ - half_start_) / options_.tau1}; }

Choice Seeu::act(Rng& rng) {
  prepare();
  const Choice choice = exploring_ ? Choice{explored(), 1.0} : controller_.act(0.0, rng);
  last_ = choice.action;
  return choice;
}

void Seeu::prepare() {
  if (plan_due()) start_half();
}

void Seeu::probabilities(std::span<double> out) {
  if (!exploring_) {
    controller_.probabilities(0.0, out);
    return;
  }
  std::fill(out.begin(), out.end(), 0.0);
  out[static_cast<std::size_t>(explored())] = 1.0;
}

void Seeu::reveal(State state) {
  OAS_REQUIRE(state >= 0 && state < controller_.sensors().num_states(),
              "state is {}; there are {} states", state.value(),
              controller_.sensors().num_states());
  revealed_ = state;
}

void Seeu::observe(Observation observation) {
  check_observation(observation, controller_.sensors().num_observations());
  if (exploring_) {
    if ((step_ - half_start_) % options_.tau1 == 0) {  // another action, or another phase
      window_.clear();
      moments_.start_run();
    }
    if (options_.estimator == SeeuEstimator::oas) {
      moments_.add({last_, 1.0}, observation);
    } else if (observation == kMissing) {
      window_.clear();
    } else {
      count(needs_hidden_state() ? revealed_.value() : observation.value());
    }
  }
  controller_.observe(last_, observation);
  ++step_;
}

void Seeu::count(int symbol) {
  window_.push_back(symbol);
  if (window_.size() < 3) return;
  triples_.add(last_, window_[0], window_[1], window_[2]);
  options_.overlapping ? static_cast<void>(window_.erase(window_.begin())) : window_.clear();
}

void Seeu::start_half() {
  exploring_ = !exploring_;
  if (exploring_) ++phase_;
  Episode episode;
  episode.start = half_start_ = step_;
  episode.length = half_length();
  if (exploring_) {
    episode.status = "exploring";
  } else {
    plan(episode);
  }
  half_end_ = step_ + episode.length;
  episodes_.push_back(std::move(episode));
}

std::int64_t Seeu::half_length() const {
  if (exploring_) return options_.tau1 * controller_.sensors().num_actions();
  return static_cast<std::int64_t>(
      std::floor(static_cast<double>(options_.tau2) * std::sqrt(static_cast<double>(phase_))));
}

TransitionEstimate Seeu::estimate(Episode& episode) const {
  if (options_.estimator == SeeuEstimator::oas) {
    return moments_.estimate(controller_.sensors(), episode);
  }
  SpectralOptions options;
  options.estimated_sensors = !options_.known_sensors;
  // A stream of its own, so that decompositions can be repeated and the agent's stream is left to
  // its actions.
  Rng rng({0, static_cast<std::uint32_t>(phase_), Role::estimation});
  TransitionEstimate estimate =
      estimate_constant(triples_, options_.views, controller_.sensors(), options, rng);
  episode.pairs = triples_.total();
  detail::record_estimate(estimate, controller_.sensors(), episode);
  return estimate;
}

void Seeu::plan(Episode& episode) {
  const TransitionEstimate estimate = this->estimate(episode);
  const std::vector<double> radii =
      detail::sample_radii(estimate.pairs, controller_.sensors().num_states(),
                           options_.radius_scale, options_.delta, phase_);
  plan_optimistically(estimate.transition, radii, options_.acting().planner(0.0), controller_,
                      episode);
}

Json Seeu::save() const {
  return {{"step", step_},
          {"phase", phase_},
          {"exploring", exploring_},
          {"half_start", half_start_},
          {"half_end", half_end_},
          {"action", last_.value()},
          {"window", window_},
          {"triples", detail::triples_to_json(triples_)},
          {"moments", moments_.save()},
          {"controller", controller_.save()}};
}

void Seeu::load(const JsonView& state) {
  constexpr std::array<std::string_view, 10> kKeys = {
      "step",   "phase",  "exploring", "half_start", "half_end",
      "action", "window", "triples",   "moments",    "controller"};
  state.require_keys(kKeys);
  step_ = detail::saved_integer(state.at("step"), 0);
  phase_ = detail::saved_integer(state.at("phase"), 0, step_ + 1);
  exploring_ = state.at("exploring").as_bool();
  if (exploring_ && phase_ == 0) state.at("phase").fail("0 is before the first exploration");
  half_start_ = detail::saved_integer(state.at("half_start"), 0, step_);
  const std::int64_t half_end = half_start_ + half_length();
  half_end_ = detail::saved_integer(state.at("half_end"), std::max(half_end, step_), half_end);
  last_ = detail::saved_action(state, controller_.sensors().num_actions());
  const int symbols = num_symbols(controller_.sensors(), options_.views);
  const JsonView window = state.at("window");
  const auto symbols_seen = detail::saved_integers(window, 0, symbols - 1);
  if (symbols_seen.size() > 2) window.fail("at most two symbols wait for a third");
  window_.assign(symbols_seen.begin(), symbols_seen.end());
  triples_.set_values(
      detail::triples_from_json(state.at("triples"), triples_.values().size(), step_));
  moments_.load(state.at("moments"));
  controller_.load(state.at("controller"));
  episodes_.clear();
}

}  // namespace oas
