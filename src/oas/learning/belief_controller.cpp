#include "oas/learning/belief_controller.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

std::vector<double> numbers(const JsonView& view) {
  const std::array<int, 1> extent = {static_cast<int>(view.size())};
  return view.as_array(extent);
}

}  // namespace

BeliefController::BeliefController(const Pomdp& sensors, int resolution)
    : sensors_(sensors.without_transition()),
      solver_(BeliefGrid(sensors.num_states(), resolution)) {}

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
  if (recent_.size() == kHistory) filter_->reset(Belief::uniform(model.num_states()));
  for (const Row& row : recent_) filter_->update(row.action, row.observation);
  greedy_.reset();
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

void BeliefController::observe(Action action, Observation observation) {
  recent_.push_back({action, observation});
  if (recent_.size() > kHistory) recent_.pop_front();
  if (filter_) filter_->update(action, observation);
  greedy_.reset();
}

std::span<const double> BeliefController::belief() const {
  OAS_REQUIRE(ready(), "a controller without dynamics has no belief");
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
  if (ready()) {
    state["transition"] =
        std::vector<double>(transition_->values().begin(), transition_->values().end());
    state["bias"] = bias_;
    state["belief"] = std::vector<double>(belief().begin(), belief().end());
  }
  return state;
}

void BeliefController::load(const JsonView& state) {
  recent_.clear();
  const std::vector<double> rows = numbers(state.at("recent"));
  if (rows.size() % 2 != 0) state.at("recent").fail("an even number of entries is expected");
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    recent_.push_back(
        {Action{static_cast<int>(rows[i])}, Observation{static_cast<int>(rows[i + 1])}});
  }
  transition_.reset();
  look_ahead_.reset();
  filter_.reset();
  greedy_.reset();
  if (!state.has("transition")) return;
  const TransitionModel transition(sensors_.num_states(), sensors_.num_actions(),
                                   numbers(state.at("transition")), "transition");
  adopt(transition, numbers(state.at("bias")));
  // Filtering on from the stored belief, not from the recent rows, continues bit for bit.
  filter_->reset(Belief(numbers(state.at("belief"))));
}

}  // namespace oas
