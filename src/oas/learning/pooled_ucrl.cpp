#include "oas/learning/pooled_ucrl.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/learning/detail/record_estimate.hpp"
#include "oas/learning/detail/saved_state.hpp"
#include "oas/learning/optimistic_planning.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

// Starts of the likelihood lie inside the set of models: an entry 0 would stay 0.
constexpr double kShareOfUniform = 0.02;

double default_floor_of(const Pomdp& sensors, PooledEstimator estimator) {
  const bool weighted = estimator == PooledEstimator::moments &&
                        weights_by_propensity(sensors.timing(), sensors.num_actions(), true);
  return weighted ? default_floor(sensors.num_actions()) : 0.0;
}

}  // namespace

void PooledUcrlOptions::validate(const Pomdp& sensors) const {
  acting.validate(sensors);
  OAS_REQUIRE(estimator == PooledEstimator::likelihood ||
                  !weights_by_propensity(sensors.timing(), sensors.num_actions(), true) ||
                  !acting.iota || *acting.iota > 0.0,
              "iota is {}; in `after` timing moments are weighted by 1/propensity and need a "
              "positive floor; oas-ucrl-ml does not",
              *acting.iota);
  check_ranges(*this);
  if (exploration == PooledExploration::optimism) check_optimism(sensors);
}

PooledUcrl::PooledUcrl(const Pomdp& sensors, const PooledUcrlOptions& options)
    : options_((options.validate(sensors), options)),
      floor_(options.acting.iota.value_or(default_floor_of(sensors, options.estimator))),
      controller_(sensors, options.acting.grid_resolution(sensors.num_states())),
      plays_(static_cast<std::size_t>(sensors.num_actions()), 0) {
  if (options.first_episode == 0) {
    options_.first_episode =
        12 * static_cast<std::int64_t>(sensors.num_states()) * sensors.num_actions();
  }
  if (options.estimator == PooledEstimator::likelihood) likelihood_.emplace(sensors);
  const SensorReport report = analyse_sensors(sensors.sensors());
  for (const ActionSensor& sensor : report.actions) alpha_.push_back(sensor.alpha);
  OAS_REQUIRE(report.revealing() || options.exploration != PooledExploration::optimism,
              "{}: no radius can be given; explore by sampling", report.brief());
  // Beside the likelihood, moments give a start: where they are valid, and not weighted.
  const bool useful = report.revealing() && (sensors.timing() == Timing::before || floor_ > 0.0);
  if (useful || !likelihood_) moments_.emplace(sensors, Pairing::overlapping);
}

Choice PooledUcrl::act(Rng& rng) {
  if (!seed_) seed_ = rng.bits();
  if (step_ == episode_end_) start_episode();
  last_ = controller_.act(floor_, rng);
  if (const auto action = overdue()) last_ = {*action, 1.0};
  return last_;
}

std::optional<Action> PooledUcrl::overdue() const {
  if (floor_ > 0.0 || !controller_.ready()) return std::nullopt;
  const double due = options_.least_plays * std::cbrt(static_cast<double>(step_));
  const auto rarest = std::min_element(plays_.begin(), plays_.end());
  if (static_cast<double>(*rarest) >= due) return std::nullopt;
  return Action{static_cast<int>(rarest - plays_.begin())};
}

void PooledUcrl::begin(Observation first) {
  controller_.begin(first);
  start_likelihood();
}

void PooledUcrl::start_likelihood() {
  if (!likelihood_ || controller_.first() == kMissing) return;
  const ObservationModel& sensor = *controller_.sensors().first_observation();
  likelihood_->start_run(RunStart().with(first_reading(sensor, controller_.first())));
}

void PooledUcrl::observe(Observation observation) {
  check_observation(observation, controller_.sensors().num_observations());
  // First, since it refuses an observation that no state emits; nothing has changed then.
  if (likelihood_) likelihood_->append(last_.action, observation);
  if (moments_) moments_->add(last_, observation);
  controller_.observe(last_.action, observation);
  ++plays_[static_cast<std::size_t>(last_.action)];
  ++step_;
}

void PooledUcrl::probabilities(std::span<double> out) {
  if (step_ == episode_end_) start_episode();
  controller_.probabilities(floor_, out);
  if (const auto action = overdue()) {
    std::fill(out.begin(), out.end(), 0.0);
    out[static_cast<std::size_t>(*action)] = 1.0;
  }
}

void PooledUcrl::start_episode() {
  ++episode_;
  Episode episode;
  episode.start = step_;
  episode.length = options_.first_episode;
  episode.status = "uniform";
  episode.floor = 1.0 / controller_.sensors().num_actions();
  if (episode_ > 0) {
    episode.length = length_after(step_);
    const Learned learned = estimate(episode);
    episode.transition = learned.transition;
    const bool sampled = options_.exploration == PooledExploration::sampling;
    plan_optimistically(sampled ? sample(learned.counts) : learned.transition,
                        radii(learned.counts), options_.acting.planner(floor_), controller_,
                        episode);
  }
  episode_end_ = step_ + episode.length;
  episodes_.push_back(std::move(episode));
}

// Of the episode that begins at a step that is not the first.
std::int64_t PooledUcrl::length_after(std::int64_t step) const {
  const double more = static_cast<double>(step) * (options_.growth - 1.0);
  return static_cast<std::int64_t>(std::ceil(more));
}

PooledUcrl::Learned PooledUcrl::estimate(Episode& episode) {
  Learned learned;
  const Pomdp& sensors = controller_.sensors();
  if (moments_) {
    TransitionEstimate by_moments = moments_->estimate(sensors, episode);
    const auto values = by_moments.transition.values();
    learned.counts.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = i / static_cast<std::size_t>(sensors.num_states());
      learned.counts[i] *= std::max(0.0, by_moments.visits[row]);
    }
    learned.transition = std::move(by_moments.transition);
  } else {
    learned.transition = TransitionModel::uniform(sensors.num_states(), sensors.num_actions());
  }
  return likelihood_ ? refine(learned.transition, episode) : learned;
}

// From the likelier of what the moments say and what was believed last.
PooledUcrl::Learned PooledUcrl::refine(const TransitionModel& by_moments, Episode& episode) {
  TransitionModel start = mixed_with_uniform(by_moments, kShareOfUniform);
  if (last_estimate_) {
    TransitionModel other = mixed_with_uniform(*last_estimate_, kShareOfUniform);
    const double likelihood = likelihood_->pass(start, {}, {1}).log_likelihood;
    if (likelihood_->pass(other, {}, {1}).log_likelihood > likelihood) start = std::move(other);
  }
  LikelihoodOptions options;
  options.prior = options_.prior;
  options.tolerance = options_.tolerance;
  LikelihoodEstimate best = maximize_likelihood(*likelihood_, start, options, {1});
  episode.pairs = static_cast<std::int64_t>(likelihood_->rows()) - 1;
  episode.flagged_rows = 0;
  episode.failure = detail::failure_of(best);
  last_estimate_ = best.transition;
  return {std::move(best.transition), std::move(best.pass.counts)};
}

TransitionModel PooledUcrl::sample(const std::vector<double>& counts) const {
  const int num_states = controller_.sensors().num_states();
  const auto n = static_cast<std::size_t>(num_states);
  Rng rng({*seed_, static_cast<std::uint32_t>(episode_), Role::agent});
  std::vector<double> values(counts.size());
  std::vector<double> concentration(n);
  for (std::size_t row = 0; row < counts.size(); row += n) {
    for (std::size_t i = 0; i < n; ++i) {
      concentration[i] = 1.0 / num_states + options_.sharpness * counts[row + i];
    }
    sample_dirichlet(concentration, std::span(values).subspan(row, n), rng);
  }
  return {num_states, controller_.sensors().num_actions(), std::move(values), "sample"};
}

std::vector<double> PooledUcrl::radii(const std::vector<double>& counts) const {
  const Pomdp& sensors = controller_.sensors();
  const auto n = static_cast<std::size_t>(sensors.num_states());
  std::vector<double> radius(counts.size() / n, 0.0);
  if (options_.exploration != PooledExploration::optimism) return radius;
  const auto k = static_cast<double>(episode_);
  const double log_term = std::log(static_cast<double>(radius.size()) * k * k * k / options_.delta);
  for (std::size_t row = 0; row < radius.size(); ++row) {
    double visits = 0.0;
    for (std::size_t i = 0; i < n; ++i) visits += counts[row * n + i];
    const double noise = std::sqrt(static_cast<double>(n) * log_term / std::max(visits, 1.0));
    const double alpha = alpha_[row / n];
    radius[row] = std::min(1.0, options_.radius_scale * noise / (alpha * alpha));
  }
  return radius;
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
  if (moments_) state["moments"] = moments_->save();
  if (likelihood_) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < likelihood_->rows(); ++i) {
      rows.push_back(likelihood_->action(i).value());
      rows.push_back(likelihood_->observation(i).value());
    }
    state["rows"] = std::move(rows);
  }
  if (last_estimate_) {
    state["estimate"] =
        std::vector<double>(last_estimate_->values().begin(), last_estimate_->values().end());
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
  if (moments_) moments_->load(state.at("moments"));
  if (likelihood_) {
    const JsonView saved = state.at("rows");
    const auto rows = detail::saved_rows(saved, sensors.num_actions(), sensors.num_observations());
    if (rows.size() != static_cast<std::size_t>(step_)) {
      saved.fail(fmt::format("{} rows after {} steps", rows.size(), step_));
    }
    likelihood_->clear();
    start_likelihood();
    for (const detail::SavedRow& row : rows) likelihood_->append(row.action, row.observation);
  }
  last_estimate_.reset();
  if (state.has("estimate")) {
    const auto n = static_cast<std::size_t>(sensors.num_states());
    last_estimate_.emplace(sensors.num_states(), sensors.num_actions(),
                           detail::saved_numbers(state.at("estimate"), plays_.size() * n * n),
                           "estimate");
  }
  episodes_.clear();
}

// Where episodes begin and end follows from the settings.
void PooledUcrl::load_schedule(const JsonView& state) {
  episode_ = detail::saved_integer(state.at("episode"), -1);
  std::int64_t start = 0;
  std::int64_t end = episode_ < 0 ? 0 : options_.first_episode;
  for (std::int64_t k = 1; k <= episode_; ++k) {
    start = end;
    if (start > detail::kMostSavedSteps) state.at("episode").fail("there are not that many steps");
    end += length_after(start);
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
