#include "oas/learning/pooled_ucrl.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
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
      schedule_(sensors.num_actions(), learner_.schedule()) {}

Choice PooledUcrl::act(Rng& rng) {
  if (!seed_) seed_ = rng.bits();
  prepare();
  last_ = controller_.act(learner_.floor(), rng);
  if (const auto action = overdue()) last_ = {*action, 1.0};
  return last_;
}

std::optional<Action> PooledUcrl::overdue() const {
  if (!controller_.ready()) return std::nullopt;
  return learner_.overdue(schedule_.plays(), schedule_.step());
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
  schedule_.play(last_.action);
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
  schedule_.start();
  Episode episode;
  episode.start = schedule_.step();
  episode.length = schedule_.length();
  episode.status = "uniform";
  episode.floor = 1.0 / controller_.sensors().num_actions();
  if (schedule_.episode() > 0) {
    const PooledLearner::Learned learned = learner_.estimate(episode);
    episode.transition = learned.transition;
    learner_.plan(learned, schedule_.episode(), *seed_, controller_, episode);
  }
  episodes_.push_back(std::move(episode));
}

Json PooledUcrl::save() const {
  Json state = {{"schedule", schedule_.save()},
                {"action", last_.action.value()},
                {"propensity", last_.propensity},
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
  constexpr std::array<std::string_view, 8> kKeys = {
      "schedule", "action", "propensity", "controller", "seed", "moments", "rows", "estimate"};
  state.require_keys(kKeys);
  const Pomdp& sensors = controller_.sensors();
  schedule_.load(state.at("schedule"));
  last_ = detail::saved_choice(state, sensors.num_actions());
  controller_.load(state.at("controller"));
  load_seed(state);
  if (auto& moments = learner_.moments()) moments->load(state.at("moments"));
  if (auto& likelihood = learner_.likelihood()) {
    const JsonView saved = state.at("rows");
    const auto rows = detail::saved_rows(saved, sensors.num_actions(), sensors.num_observations());
    if (rows.size() != static_cast<std::size_t>(schedule_.step())) {
      saved.fail(fmt::format("{} rows after {} steps", rows.size(), schedule_.step()));
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
      detail::saved_numbers(state.at("estimate"), schedule_.plays().size() * n * n), "estimate"));
}

void PooledUcrl::load_seed(const JsonView& state) {
  seed_.reset();
  if (!state.has("seed")) {
    if (schedule_.step() > 0) state.fail("key \"seed\" is missing");
    return;
  }
  const std::string text = state.at("seed").as_string();
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    state.at("seed").fail(fmt::format("'{}' is not a seed", text));
  }
  seed_ = seed;
}

}  // namespace oas
