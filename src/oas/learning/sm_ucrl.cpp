#include "oas/learning/sm_ucrl.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/detail/record_estimate.hpp"
#include "oas/learning/detail/sample_radii.hpp"
#include "oas/learning/detail/saved_state.hpp"
#include "oas/learning/detail/triple_state.hpp"
#include "oas/planning/grid/optimistic_memoryless.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

void SmUcrlOptions::validate(const Pomdp& sensors) const {
  if (iota) check_floor(*iota, sensors.num_actions());
  OAS_REQUIRE(!iota || *iota > 0.0,
              "iota is {}; sm-ucrl needs a positive floor: an action that an episode never plays "
              "could not be estimated from it",
              *iota);
  check_ranges(*this);
}

SmUcrl::SmUcrl(const Pomdp& sensors, const SmUcrlOptions& options)
    : sensors_(sensors.without_transition()),
      options_((options.validate(sensors), options)),
      floor_(options.iota.value_or(default_floor(sensors.num_actions()))),
      rows_(sensors.num_actions(), sensors.num_observations()),
      plays_(static_cast<std::size_t>(sensors.num_actions())),
      most_plays_(plays_.size()),
      samples_(plays_.size()) {
  static_cast<void>(LeftInverses(sensors));  // refuses blind sensors before the first step
  const auto uniform = TransitionModel::uniform(sensors.num_states(), sensors.num_actions());
  transition_.assign(uniform.values().begin(), uniform.values().end());
}

Choice SmUcrl::act(Rng& rng) {
  prepare();
  const int num_actions = sensors_.num_actions();
  if (greedy_.empty() || !context_) {
    last_ = {Action{rng.below(static_cast<std::uint32_t>(num_actions))}, 1.0 / num_actions};
  } else {
    last_ = explore(greedy_[static_cast<std::size_t>(*context_)], floor_, num_actions, rng);
  }
  return last_;
}

void SmUcrl::prepare() {
  if (plan_due()) start_episode();
}

void SmUcrl::probabilities(std::span<double> out) {
  const int num_actions = sensors_.num_actions();
  const bool uniform = greedy_.empty() || !context_;
  std::fill(out.begin(), out.end(), uniform ? 1.0 / num_actions : floor_);
  if (!uniform) {
    out[static_cast<std::size_t>(greedy_[static_cast<std::size_t>(*context_)])] =
        1.0 - (num_actions - 1) * floor_;
  }
}

void SmUcrl::observe(Observation observation) {
  check_observation(observation, sensors_.num_observations());
  rows_.add(last_.action, observation);
  ++plays_[static_cast<std::size_t>(last_.action)];
  context_.reset();  // without observation the table has no entry: the next action is uniform
  if (observation != kMissing) {
    context_ = last_.action * sensors_.num_observations() + observation;
  }
  ++step_;
}

bool SmUcrl::episode_over() const {
  if (episode_ < 0) return true;
  if (episode_ == 0) return step_ - episode_start_ >= options_.first_episode;
  for (std::size_t a = 0; a < plays_.size(); ++a) {
    if (plays_[a] >= 2 * std::max<std::int64_t>(most_plays_[a], 1)) return true;
  }
  return false;
}

void SmUcrl::start_episode() {
  ++episode_;
  Episode episode;
  episode.start = step_;
  episode.status = "uniform";
  episode.floor = 1.0 / sensors_.num_actions();
  if (episode_ == 0) {
    episode.length = options_.first_episode;
  } else {
    SpectralOptions spectral;
    spectral.pooling = options_.pooling;
    Rng rng({0, static_cast<std::uint32_t>(episode_), Role::estimation});
    if (rows_.counts().total() > 0) {
      take_in(estimate_spectral(rows_, sensors_, spectral, rng), episode);
    }
    plan(episode);
  }
  for (std::size_t a = 0; a < plays_.size(); ++a) {
    most_plays_[a] = std::max(most_plays_[a], plays_[a]);
  }
  std::fill(plays_.begin(), plays_.end(), 0);
  rows_.clear();
  episode_start_ = step_;
  episodes_.push_back(std::move(episode));
}

// Replaces the rows of the actions of which the last episode had more samples.
void SmUcrl::take_in(const TransitionEstimate& estimate, Episode& episode) {
  const auto block = transition_.size() / plays_.size();
  for (std::size_t a = 0; a < plays_.size(); ++a) {
    const auto failed =
        std::find_if(estimate.flagged.begin(), estimate.flagged.end(),
                     [&](const FlaggedRow& row) { return row.action == static_cast<int>(a); });
    if (failed != estimate.flagged.end()) {
      if (!episode.failure) episode.failure = detail::failure_of(*failed, sensors_);
      if (samples_[a] > 0) continue;
    }
    if (estimate.pairs[a] < samples_[a]) continue;
    const auto from = estimate.transition.values().subspan(a * block, block);
    std::copy(from.begin(), from.end(),
              transition_.begin() + static_cast<std::ptrdiff_t>(a * block));
    samples_[a] = failed == estimate.flagged.end() ? estimate.pairs[a] : 0;
  }
}

void SmUcrl::plan(Episode& episode) {
  const auto begin = std::chrono::steady_clock::now();
  const int num_states = sensors_.num_states();
  const TransitionModel transition(num_states, sensors_.num_actions(), transition_);
  const ConfidenceSet set{
      sensors_.with_transition(transition),
      detail::sample_radii(samples_, num_states, options_.radius_scale, options_.delta, episode_)};
  for (const std::int64_t n : samples_) {
    episode.pairs += n;
    episode.flagged_rows += n == 0 ? num_states : 0;
  }
  MemorylessOptions memoryless;
  memoryless.iota = floor_;
  memoryless.max_policies = options_.max_policies;
  const OptimisticMemoryless result = optimistic_memoryless(set, memoryless);
  greedy_ = result.greedy;
  episode.transition = transition;
  episode.floor = floor_;
  episode.radius = set.max_radius();
  episode.planned_gain = result.center_gain;
  episode.optimistic_gain = result.gain;
  episode.status = result.exhaustive ? "best memoryless" : "memoryless, climbed";
  episode.planning_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Json SmUcrl::save() const {
  Json state = {{"step", step_},
                {"episode", episode_},
                {"episode_start", episode_start_},
                {"plays", plays_},
                {"most_plays", most_plays_},
                {"transition", transition_},
                {"samples", samples_},
                {"greedy", greedy_},
                {"action", last_.action.value()},
                {"propensity", last_.propensity},
                {"triples", detail::triples_to_json(rows_.counts())},
                {"pending", rows_.pending()}};
  if (context_) state["context"] = *context_;
  return state;
}

void SmUcrl::load(const JsonView& state) {
  constexpr std::array<std::string_view, 13> kKeys = {
      "step",   "episode", "episode_start", "plays",   "most_plays", "transition", "samples",
      "greedy", "action",  "propensity",    "triples", "pending",    "context"};
  state.require_keys(kKeys);
  load_counters(state);
  const TransitionModel transition(
      sensors_.num_states(), sensors_.num_actions(),
      detail::saved_numbers(state.at("transition"), transition_.size()), "transition");
  transition_.assign(transition.values().begin(), transition.values().end());
  const int contexts = sensors_.num_actions() * sensors_.num_observations();
  const auto greedy = detail::saved_integers(state.at("greedy"), 0, sensors_.num_actions() - 1);
  if (!greedy.empty() && greedy.size() != static_cast<std::size_t>(contexts)) {
    state.at("greedy").fail(fmt::format("{} entries for {} last rows", greedy.size(), contexts));
  }
  greedy_.assign(greedy.begin(), greedy.end());
  last_ = detail::saved_choice(state, sensors_.num_actions());
  const auto triples =
      detail::triples_from_json(state.at("triples"), rows_.counts().values().size(), step_);
  const auto pending = detail::saved_integers(state.at("pending"), 0, contexts);
  rows_.restore(triples, std::vector<int>(pending.begin(), pending.end()));
  context_.reset();
  if (state.has("context")) {
    context_ = static_cast<int>(detail::saved_integer(state.at("context"), 0, contexts - 1));
  }
  episodes_.clear();
}

void SmUcrl::load_counters(const JsonView& state) {
  const auto each_up_to_now = [&](const char* key, std::vector<std::int64_t>& out) {
    const auto values = detail::saved_integers(state.at(key), 0, step_);
    if (values.size() != out.size()) state.at(key).fail("expected one entry per action");
    out = values;
  };
  step_ = detail::saved_integer(state.at("step"), 0);
  episode_ = detail::saved_integer(state.at("episode"), step_ == 0 ? -1 : 0, step_);
  episode_start_ = detail::saved_integer(state.at("episode_start"), 0, step_);
  each_up_to_now("plays", plays_);
  each_up_to_now("most_plays", most_plays_);
  each_up_to_now("samples", samples_);
  const auto sum = std::accumulate(plays_.begin(), plays_.end(), std::int64_t{0});
  if (sum != step_ - episode_start_) {
    state.at("plays").fail(fmt::format("{} plays in {} steps", sum, step_ - episode_start_));
  }
}

}  // namespace oas
