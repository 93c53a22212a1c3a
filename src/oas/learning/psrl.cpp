#include "oas/learning/psrl.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/detail/saved_state.hpp"

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
  check_ranges(*this);
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
    if (controller_.first() != kMissing) posterior_->start_run(controller_.first());
  }
  prepare();
  last_ = controller_.act(floor_, rng);
  return last_;
}

void Psrl::observe(Observation observation) {
  check_observation(observation, controller_.sensors().num_observations());
  OAS_REQUIRE(posterior_.has_value(), "observation {} comes before the first action",
              observation.value());
  posterior_->update(last_.action, observation, *rng_);
  controller_.observe(last_.action, observation);
  schedule_.pull(last_.action);
  ++step_;
}

void Psrl::prepare() {
  if (plan_due()) start_episode();
}

void Psrl::probabilities(std::span<double> out) { controller_.probabilities(floor_, out); }

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
    episode.failure = {Episode::Failure::Kind::collapsed_particles, "the particles have collapsed"};
  } else if (posterior_->report().impossible > told_impossible_) {
    episode.failure = {Episode::Failure::Kind::impossible_observation,
                       "observations were impossible under every particle"};
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
  constexpr std::array<std::string_view, 9> kKeys = {"step",       "schedule",    "action",
                                                     "propensity", "last_stored", "told_impossible",
                                                     "controller", "stream",      "posterior"};
  state.require_keys(kKeys);
  step_ = detail::saved_integer(state.at("step"), 0);
  const JsonView schedule = state.at("schedule");
  if (!schedule_.set_state(detail::saved_integers(schedule, 0), step_)) {
    schedule.fail(fmt::format("this is not a schedule of {} steps", step_));
  }
  last_ = detail::saved_choice(state, controller_.sensors().num_actions());
  last_stored_ = detail::saved_integer(state.at("last_stored"), 0, step_);
  told_impossible_ = detail::saved_integer(state.at("told_impossible"), 0, step_);
  controller_.load(state.at("controller"));
  episodes_.clear();
  rng_.reset();
  posterior_.reset();
  if (step_ == 0 && !state.has("posterior")) return;
  const JsonView stream = state.at("stream");
  constexpr std::array<std::string_view, 2> kStreamKeys = {"seed", "position"};
  stream.require_keys(kStreamKeys);
  rng_.emplace(
      StreamKey{static_cast<std::uint64_t>(stream.at("seed").as_integer()), 0, Role::agent});
  posterior_.emplace(make_posterior(*rng_));
  posterior_->load(state.at("posterior"));
  const std::int64_t position =
      detail::saved_integer(stream.at("position"), 0, std::numeric_limits<std::int64_t>::max());
  rng_.emplace(rng_->key(), static_cast<std::uint64_t>(position));
}

}  // namespace oas
