#include "oas/learning/pooled_ucrl.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/detail/saved_state.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

PooledUcrl::PooledUcrl(const Pomdp& sensors, const PooledUcrlOptions& options)
    : learner_(sensors, options),
      controller_(sensors, options.acting.grid_resolution(sensors.num_states())),
      plays_(static_cast<std::size_t>(sensors.num_actions()), 0) {}

Choice PooledUcrl::act(Rng& rng) {
  if (!seed_) seed_ = rng.bits();
  prepare();
  last_ = controller_.act(learner_.floor(), rng);
  if (const auto action = overdue()) last_ = {*action, 1.0};
  return last_;
}

std::optional<Action> PooledUcrl::overdue() const {
  if (!controller_.ready()) return std::nullopt;
  return learner_.overdue(plays_, step_);
}

void PooledUcrl::begin(Observation first) {
  controller_.begin(first);
  start_likelihood();
}

void PooledUcrl::start_likelihood() {
  if (!learner_.likelihood() || controller_.first() == kMissing) return;
  const ObservationModel& sensor = *controller_.sensors().first_observation();
  learner_.likelihood()->start_run(RunStart().with(first_reading(sensor, controller_.first())));
}

void PooledUcrl::observe(Observation observation) {
  check_observation(observation, controller_.sensors().num_observations());
  // First, since it refuses an observation that no state emits; nothing has changed then.
  if (auto& likelihood = learner_.likelihood()) likelihood->append(last_.action, observation);
  if (auto& moments = learner_.moments()) moments->add(last_, observation);
  controller_.observe(last_.action, observation);
  ++plays_[static_cast<std::size_t>(last_.action)];
  ++step_;
}

void PooledUcrl::prepare() {
  if (plan_due()) start_episode();
}

void PooledUcrl::probabilities(std::span<double> out) {
  controller_.probabilities(learner_.floor(), out);
  if (const auto action = overdue()) {
    std::fill(out.begin(), out.end(), 0.0);
    out[static_cast<std::size_t>(*action)] = 1.0;
  }
}

void PooledUcrl::start_episode() {
  ++episode_;
  Episode episode;
  episode.start = step_;
  episode.length = learner_.first_episode();
  episode.status = "uniform";
  episode.floor = 1.0 / controller_.sensors().num_actions();
  if (episode_ > 0) {
    episode.length = learner_.length_after(step_);
    const PooledLearner::Learned learned = learner_.estimate(episode);
    episode.transition = learned.transition;
    learner_.plan(learned, episode_, *seed_, controller_, episode);
  }
  episode_end_ = step_ + episode.length;
  episodes_.push_back(std::move(episode));
}

Json PooledUcrl::save() const {
  Json state = {{"step", step_},
                {"episode", episode_},
                {"episode_end", episode_end_},
                {"action", last_.action.value()},
                {"propensity", last_.propensity},
                {"plays", plays_},
                {"controller", controller_.save()}};
  if (seed_) state["seed"] = std::to_string(*seed_);  // beyond what a JSON integer holds
  if (const auto& moments = learner_.moments()) state["moments"] = moments->save();
  if (const auto& likelihood = learner_.likelihood()) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < likelihood->rows(); ++i) {
      rows.push_back(likelihood->action(i).value());
      rows.push_back(likelihood->observation(i).value());
    }
    state["rows"] = std::move(rows);
  }
  if (const auto& estimate = learner_.last_estimate()) {
    state["estimate"] = std::vector<double>(estimate->values().begin(), estimate->values().end());
  }
  return state;
}

void PooledUcrl::load(const JsonView& state) {
  constexpr std::array<std::string_view, 11> kKeys = {
      "step",       "episode", "episode_end", "action", "propensity", "plays",
      "controller", "seed",    "moments",     "rows",   "estimate"};
  state.require_keys(kKeys);
  const Pomdp& sensors = controller_.sensors();
  load_schedule(state);
  last_ = detail::saved_choice(state, sensors.num_actions());
  controller_.load(state.at("controller"));
  load_seed(state);
  if (auto& moments = learner_.moments()) moments->load(state.at("moments"));
  if (auto& likelihood = learner_.likelihood()) {
    const JsonView saved = state.at("rows");
    const auto rows = detail::saved_rows(saved, sensors.num_actions(), sensors.num_observations());
    if (rows.size() != static_cast<std::size_t>(step_)) {
      saved.fail(fmt::format("{} rows after {} steps", rows.size(), step_));
    }
    likelihood->clear();
    start_likelihood();
    for (const detail::SavedRow& row : rows) likelihood->append(row.action, row.observation);
  }
  load_estimate(state);
  episodes_.clear();
}

void PooledUcrl::load_estimate(const JsonView& state) {
  learner_.set_last_estimate(std::nullopt);
  if (!state.has("estimate")) return;
  const Pomdp& sensors = controller_.sensors();
  const auto n = static_cast<std::size_t>(sensors.num_states());
  learner_.set_last_estimate(TransitionModel(
      sensors.num_states(), sensors.num_actions(),
      detail::saved_numbers(state.at("estimate"), plays_.size() * n * n), "estimate"));
}

// Where episodes begin and end follows from the settings.
void PooledUcrl::load_schedule(const JsonView& state) {
  episode_ = detail::saved_integer(state.at("episode"), -1);
  std::int64_t start = 0;
  std::int64_t end = episode_ < 0 ? 0 : learner_.first_episode();
  for (std::int64_t k = 1; k <= episode_; ++k) {
    start = end;
    if (start > detail::kMostSavedSteps) state.at("episode").fail("there are not that many steps");
    end += learner_.length_after(start);
  }
  episode_end_ = detail::saved_integer(state.at("episode_end"), end, end);
  step_ = detail::saved_integer(state.at("step"), start, end);
  const JsonView plays = state.at("plays");
  plays_ = detail::saved_counters(plays, plays_.size(), step_);
  const auto sum = std::accumulate(plays_.begin(), plays_.end(), std::int64_t{0});
  if (sum != step_) plays.fail(fmt::format("{} plays in {} steps", sum, step_));
}

void PooledUcrl::load_seed(const JsonView& state) {
  seed_.reset();
  if (!state.has("seed")) {
    if (step_ > 0) state.fail("key \"seed\" is missing");
    return;
  }
  const std::string text = state.at("seed").as_string();
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    state.at("seed").fail(fmt::format("'{}' is no seed", text));
  }
  seed_ = seed;
}

}  // namespace oas
