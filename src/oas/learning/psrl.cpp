#include "oas/learning/psrl.hpp"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kStoreGrowth = 1.05;

ParticleOptions exact_options() {
  ParticleOptions options;
  options.ess_threshold = 0.0;
  options.move = ParticleMove::none;
  return options;
}

}  // namespace

void PsrlOptions::validate(const Pomdp& sensors) const {
  acting.validate(sensors);
  posterior.validate();
  OAS_REQUIRE(max_sweeps >= 1, "max_sweeps is {}; it must be at least 1", max_sweeps);
}

Psrl::Psrl(const Pomdp& sensors, const PsrlOptions& options) : Psrl(sensors, options, {}) {}

Psrl::Psrl(const Pomdp& sensors, const PsrlOptions& options,
           std::vector<TransitionModel> candidates)
    : options_((options.validate(sensors), options)),
      candidates_(std::move(candidates)),
      floor_(options.acting.iota.value_or(0.0)),
      controller_(sensors, options.acting.grid_resolution(sensors.num_states())),
      schedule_(sensors.num_actions(), options.schedule) {}

ParticlePosterior Psrl::make_posterior(Rng& rng) const {
  if (candidates_.empty()) return {controller_.sensors(), options_.posterior, rng};
  return {controller_.sensors(), exact_options(), candidates_};
}

Choice Psrl::act(Rng& rng) {
  if (!posterior_) {
    rng_.emplace(StreamKey{rng.bits(), 0, Role::agent});
    posterior_.emplace(make_posterior(*rng_));
  }
  if (schedule_.over()) start_episode();
  last_ = controller_.act(floor_, rng);
  return last_;
}

void Psrl::observe(Observation observation) {
  posterior_->update(last_.action, observation, *rng_);
  controller_.observe(last_.action, observation);
  schedule_.pull(last_.action);
  ++step_;
}

void Psrl::probabilities(std::span<double> out) {
  if (schedule_.over()) start_episode();
  controller_.probabilities(floor_, out);
}

void Psrl::start_episode() {
  schedule_.start();
  Episode episode;
  episode.start = step_;
  episode.pairs = step_;
  episode.floor = floor_;
  episode.status = "uniform";
  if (step_ > 0) draw_model(episode);
  episodes_.push_back(std::move(episode));
}

void Psrl::draw_model(Episode& episode) {
  const auto begin = std::chrono::steady_clock::now();
  const int particle = posterior_->draw(*rng_);
  TransitionModel transition = posterior_->transition(particle);
  RviOptions planner = options_.acting.planner(floor_);
  planner.max_sweeps = options_.max_sweeps;
  const RviResult& result = controller_.adopt(transition, planner);
  controller_.set_belief(Belief(posterior_->belief(particle)));
  episode.planned_gain = episode.optimistic_gain = result.gain();
  episode.status = to_string(result.status);
  if (candidates_.empty() && posterior_->collapsed()) {
    episode.failure = "the particles have collapsed";
  } else if (posterior_->report().impossible > told_impossible_) {
    episode.failure = "observations were impossible under every particle";
  }
  told_impossible_ = posterior_->report().impossible;
  if (static_cast<double>(step_) >= kStoreGrowth * static_cast<double>(last_stored_)) {
    last_stored_ = step_;
    episode.transition = std::move(transition);
  }
  episode.planning_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::ordered_json Psrl::save() const {
  nlohmann::ordered_json state = {{"step", step_},
                                  {"schedule", schedule_.state()},
                                  {"action", last_.action.value()},
                                  {"propensity", last_.propensity},
                                  {"last_stored", last_stored_},
                                  {"told_impossible", told_impossible_},
                                  {"controller", controller_.save()}};
  if (posterior_) {
    state["stream"] = {{"seed", static_cast<std::int64_t>(rng_->key().seed)},
                       {"position", rng_->position()}};
    state["posterior"] = posterior_->save();
  }
  return state;
}

void Psrl::load(const JsonView& state) {
  step_ = state.at("step").as_integer();
  const std::array<int, 1> extents = {static_cast<int>(schedule_.state().size())};
  const std::vector<double> schedule = state.at("schedule").as_array(extents);
  schedule_.set_state({schedule.begin(), schedule.end()});
  last_ = {Action{state.at("action").as_integer()}, state.at("propensity").as_double()};
  last_stored_ = state.at("last_stored").as_integer();
  told_impossible_ = state.at("told_impossible").as_integer();
  controller_.load(state.at("controller"));
  episodes_.clear();
  rng_.reset();
  posterior_.reset();
  if (!state.has("posterior")) return;
  const JsonView stream = state.at("stream");
  rng_.emplace(
      StreamKey{static_cast<std::uint64_t>(stream.at("seed").as_integer()), 0, Role::agent});
  posterior_.emplace(make_posterior(*rng_));
  posterior_->load(state.at("posterior"));
  rng_.emplace(rng_->key(), static_cast<std::uint64_t>(stream.at("position").as_integer()));
}

}  // namespace oas
