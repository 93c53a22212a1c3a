#include "oas/learning/belief_controller.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/detail/saved_state.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

// Beyond this many times the largest reward rewards are lost in the rounding of a bias.
constexpr double kLargestBias = 1e15;

// Of a belief that older dynamics have led to this much is shared out among all states: they may
// have been wrong about what cannot be.
constexpr double kDoubt = 1e-3;

Belief doubted(std::vector<double> belief) {
  const double even = kDoubt / static_cast<double>(belief.size());
  for (double& probability : belief) probability = (1.0 - kDoubt) * probability + even;
  return Belief(std::move(belief));
}

}  // namespace

BeliefController::BeliefController(const Pomdp& sensors, int resolution)
    : sensors_(sensors.without_transition()),
      solver_(BeliefGrid(sensors.num_states(), resolution), {1}) {}  // runs are what is parallel

const RviResult& BeliefController::adopt(const TransitionModel& transition,
                                         const RviOptions& options) {
  const RviResult& result = solver_.solve(sensors_.with_transition(transition), options);
  bias_ = result.bias;
  take_over(transition);
  return result;
}

void BeliefController::adopt(const TransitionModel& transition, std::vector<double> bias) {
  bias_ = std::move(bias);
  solver_.reset(bias_);
  take_over(transition);
}

void BeliefController::take_over(const TransitionModel& transition) {
  transition_ = transition;
  const Pomdp model = sensors_.with_transition(transition);
  look_ahead_.emplace(model, solver_.grid(), bias_);
  filter_.emplace(model);
  if (!before_.empty()) {
    filter_->reset(doubted(before_));
  } else if (first_ != kMissing) {
    filter_->begin(first_);
  }
  middle_.clear();
  for (const Row& row : std::exchange(recent_, {})) take_in(row);
  greedy_.reset();
}

void BeliefController::take_in(const Row& row) {
  filter_->update(row.action, row.observation);
  recent_.push_back(row);
  if (recent_.size() % kHistory != 0) return;
  if (!middle_.empty()) {
    before_ = std::move(middle_);
    recent_.erase(recent_.begin(), recent_.begin() + kHistory);
  }
  middle_ = current_belief();
}

std::vector<double> BeliefController::current_belief() const {
  return {belief().begin(), belief().end()};
}

void BeliefController::set_belief(const Belief& belief) {
  OAS_REQUIRE(ready(), "a controller without dynamics has no belief");
  filter_->reset(belief);
  greedy_.reset();
}

int BeliefController::greedy() {
  OAS_REQUIRE(ready(), "a controller without dynamics has no greedy action");
  if (!greedy_) greedy_ = look_ahead_->greedy(filter_->belief());
  return *greedy_;
}

Choice BeliefController::act(double floor, Rng& rng) {
  const int num_actions = sensors_.num_actions();
  if (ready()) return explore(greedy(), floor, num_actions, rng);
  return {Action{rng.below(static_cast<std::uint32_t>(num_actions))}, 1.0 / num_actions};
}

void BeliefController::probabilities(double floor, std::span<double> out) {
  const int num_actions = sensors_.num_actions();
  std::fill(out.begin(), out.end(), ready() ? floor : 1.0 / num_actions);
  if (ready()) out[static_cast<std::size_t>(greedy())] = 1.0 - (num_actions - 1) * floor;
}

void BeliefController::begin(Observation first) {
  OAS_REQUIRE(sensors_.first_observation().has_value(),
              "an agent is told a first reading, and its model has no first_observation");
  check_observation(first, sensors_.num_observations());
  first_ = first;
  if (filter_ && first != kMissing) filter_->begin(first);
  greedy_.reset();
}

void BeliefController::observe(Action action, Observation observation) {
  check_action(action, sensors_.num_actions());
  check_observation(observation, sensors_.num_observations());
  if (ready()) {
    take_in({action, observation});
  } else {
    recent_.push_back({action, observation});
  }
  greedy_.reset();
}

std::span<const double> BeliefController::belief() const {
  if (!ready()) return {};
  return filter_->belief();
}

Json BeliefController::save() const {
  Json state;
  Json rows = Json::array();
  for (const Row& row : recent_) {
    rows.push_back(row.action.value());
    rows.push_back(row.observation.value());
  }
  state["recent"] = std::move(rows);
  if (first_ != kMissing) state["first"] = first_.value();
  if (!before_.empty()) state["before"] = before_;
  if (!middle_.empty()) state["middle"] = middle_;
  if (ready()) {
    state["transition"] =
        std::vector<double>(transition_->values().begin(), transition_->values().end());
    state["bias"] = bias_;
    state["belief"] = current_belief();
  }
  return state;
}

void BeliefController::load(const JsonView& state) {
  constexpr std::array<std::string_view, 7> kKeys = {"recent",     "first", "before", "middle",
                                                     "transition", "bias",  "belief"};
  state.require_keys(kKeys);
  first_ = kMissing;
  if (state.has("first")) {
    if (!sensors_.first_observation()) state.at("first").fail("the model has no first_observation");
    first_ =
        Observation{detail::saved_integer(state.at("first"), 0, sensors_.num_observations() - 1)};
  }
  transition_.reset();
  look_ahead_.reset();
  filter_.reset();
  greedy_.reset();
  solver_.reset();
  bias_.clear();
  if (state.has("transition")) load_dynamics(state);
  load_recent(state);
}

// Without rows: going on from the stored belief, not from the recent rows, continues bit for bit.
void BeliefController::load_dynamics(const JsonView& state) {
  const int num_states = sensors_.num_states();
  const TransitionModel transition(
      num_states, sensors_.num_actions(),
      detail::saved_numbers(state.at("transition"),
                            sensors_.num_actions() * num_states * num_states),
      "transition");
  const Belief belief(saved_belief(state.at("belief")));
  const double largest =
      sensors_.with_transition(transition).expected_reward().cwiseAbs().maxCoeff();
  recent_.clear();
  adopt(transition, detail::saved_numbers(state.at("bias"), grid().size(),
                                          kLargestBias * std::max(1.0, largest)));
  filter_->reset(belief);
}

void BeliefController::load_recent(const JsonView& state) {
  const JsonView saved = state.at("recent");
  const auto rows = detail::saved_rows(saved, sensors_.num_actions(), sensors_.num_observations());
  if (ready() && rows.size() >= 2 * kHistory) {
    saved.fail(fmt::format("{} rows, {} or more", rows.size(), 2 * kHistory));
  }
  recent_.clear();
  for (const detail::SavedRow& row : rows) recent_.push_back({row.action, row.observation});
  before_.clear();
  middle_.clear();
  if (ready() && rows.size() >= kHistory) middle_ = saved_belief(state.at("middle"));
  if (state.has("before")) {
    if (middle_.empty()) saved.fail(fmt::format("{} rows, fewer than {}", rows.size(), kHistory));
    before_ = saved_belief(state.at("before"));
  }
}

std::vector<double> BeliefController::saved_belief(const JsonView& belief) const {
  const Belief checked(detail::saved_numbers(belief, sensors_.num_states()));
  return {checked.values().begin(), checked.values().end()};
}

}  // namespace oas
