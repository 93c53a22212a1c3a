#include "oas/learning/fixed_model_agent.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/learning/detail/saved_state.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

FixedModelAgent::FixedModelAgent(const Pomdp& sensors, double floor, int resolution)
    : controller_(sensors, resolution), floor_(floor) {
  check_floor(floor, sensors.num_actions());
}

FixedModelAgent FixedModelAgent::oracle(const Pomdp& model, double floor, int resolution) {
  FixedModelAgent agent(model, floor, resolution);
  RviOptions options;
  options.iota = floor;
  agent.controller_.adopt(model.transition(), options);
  return agent;
}

FixedModelAgent FixedModelAgent::myopic(const Pomdp& sensors, double floor) {
  FixedModelAgent agent(sensors, floor, /*resolution=*/1);
  const std::vector<double> no_future(agent.controller_.grid().size(), 0.0);
  agent.controller_.adopt(TransitionModel::uniform(sensors.num_states(), sensors.num_actions()),
                          no_future);
  return agent;
}

Choice FixedModelAgent::act(Rng& rng) {
  const Choice choice = controller_.act(floor_, rng);
  last_ = choice.action;
  return choice;
}

void FixedModelAgent::observe(Observation observation) { controller_.observe(last_, observation); }

void FixedModelAgent::probabilities(std::span<double> out) {
  controller_.probabilities(floor_, out);
}

Json FixedModelAgent::save() const {
  return {{"action", last_.value()}, {"controller", controller_.save()}};
}

void FixedModelAgent::load(const JsonView& state) {
  constexpr std::array<std::string_view, 2> kKeys = {"action", "controller"};
  state.require_keys(kKeys);
  last_ = detail::saved_action(state, controller_.sensors().num_actions());
  controller_.load(state.at("controller"));
  if (!controller_.ready()) state.at("controller").fail("there are no dynamics to play by");
}

void UniformAgent::observe(Observation observation) {
  check_observation(observation, num_observations_);
}

Json UniformAgent::save() const { return Json::object(); }

void UniformAgent::load(const JsonView& state) { state.require_keys({}); }

}  // namespace oas
