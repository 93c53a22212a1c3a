#include "live/live_fleet.hpp"

#include <gtest/gtest.h>

namespace oas::test {

LiveOptions quick_options(const std::string& journal) {
  LiveOptions options;
  options.journal = journal;
  options.settings = {{"first_episode", "40"}, {"resolution", "8"}};
  options.snapshot_every = 60;
  options.segment_bytes = 16384;
  return options;
}

nlohmann::json ask(LiveAgent& agent, const nlohmann::json& request) {
  nlohmann::json answer = nlohmann::json::parse(agent.answer(request.dump()));
  EXPECT_TRUE(answer["ok"].get<bool>()) << request << " → " << answer;
  return answer;
}

int status_of(LiveAgent& agent, const std::string& call, const std::string& body) {
  return agent.call(call, body).status;
}

FleetUnit::FleetUnit(const Pomdp& model, std::string name, std::uint64_t seed)
    : model_(&model),
      name_(std::move(name)),
      environment_(model, Rng({seed, 0, Role::environment})),
      rng_({seed, 0, Role::test}) {
  request_ = {{"call", "act"}, {"unit", name_}, {"step", 0}};
  if (!environment_.opens()) return;
  request_["call"] = "step";
  request_["step"] = -1;
  request_["observation"] = environment_.open().value();
}

// One row in eight is missing, and one in sixteen of somebody else's choice.
void FleetUnit::take(const nlohmann::json& answer) {
  Told told{answer["action"], answer["propensity"], answer["belief"], nullptr};
  const Labels& names = model_->actions();
  const std::string text = told.action.is_string() ? told.action.get<std::string>() : "";
  Action action{text.empty() ? told.action.get<int>() : *names.find(text)};
  request_ = {{"call", "step"}, {"unit", name_}, {"step", answer["step"]}};
  if (rng_.below(16) == 0) {
    action = Action{rng_.below(static_cast<std::uint32_t>(names.size()))};
    request_["action"] = action.value();
    request_["propensity"] = 1.0 / names.size();
  }
  const Observation seen = environment_.step(action).observation;
  request_["observation"] =
      rng_.below(8) == 0 ? nlohmann::json(nullptr) : nlohmann::json(seen.value());
  told.observation = request_["observation"];
  told_.push_back(std::move(told));
}

}  // namespace oas::test
