#include "oas/planning/horizon/horizon_policy.hpp"

#include <algorithm>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

void check_nodes(const std::vector<int>& nodes, int least, int count, const std::string& what) {
  for (const int node : nodes) {
    OAS_REQUIRE(node >= least && node < count, "{} names node {} of {}, numbered from 0", what,
                node, count);
  }
}

void check_stage(const HorizonStage& stage, int following, const Pomdp& model,
                 const std::string& name) {
  const auto nodes = stage.actions.size();
  const auto readings = static_cast<std::size_t>(model.num_observations());
  OAS_REQUIRE(nodes >= 1, "{} has no node", name);
  for (const int action : stage.actions) {
    OAS_REQUIRE(action >= 0 && action < model.num_actions(), "{} takes action {} of {}", name,
                action, model.num_actions());
  }
  OAS_REQUIRE(stage.next.size() == (following > 0 ? nodes * readings : 0),
              "{} has {} next nodes for {} nodes and {} observations{}", name, stage.next.size(),
              nodes, readings, following > 0 ? "" : "; nothing comes after the last step");
  check_nodes(stage.next, 0, following, name);
  OAS_REQUIRE(stage.alpha.size() == nodes * static_cast<std::size_t>(model.num_states()),
              "{} has {} numbers in alpha for {} nodes and {} states", name, stage.alpha.size(),
              nodes, model.num_states());
  check_finite(stage.alpha, name + " alpha");
}

}  // namespace

int HorizonPolicy::num_nodes() const {
  int total = 0;
  for (const HorizonStage& stage : stages) total += stage.num_nodes();
  return total;
}

int HorizonPolicy::first_node(Observation reading) const {
  if (first.empty() || reading == kMissing) return start;
  const int node = first[static_cast<std::size_t>(reading)];
  return node == kNone ? start : node;
}

std::optional<Action> HorizonPolicy::first_action() const {
  const std::vector<int>& actions = stages.front().actions;
  std::optional<int> found;
  for (const int node : first) {
    if (node == kNone) continue;
    const int action = actions[static_cast<std::size_t>(node)];
    if (found.value_or(action) != action) return std::nullopt;
    found = action;
  }
  return Action{found.value_or(actions[static_cast<std::size_t>(start)])};
}

void HorizonPolicy::validate(const Pomdp& model) const {
  OAS_REQUIRE(!stages.empty(), "a plan for a horizon without stages");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool last = i + 1 == stages.size();
    check_stage(stages[i], last ? 0 : stages[i + 1].num_nodes(), model, fmt::format("stage {}", i));
  }
  check_nodes({start}, 0, stages.front().num_nodes(), "start");
  OAS_REQUIRE(first.empty() || first.size() == static_cast<std::size_t>(model.num_observations()),
              "first nodes after {} of {} readings", first.size(), model.num_observations());
  check_nodes(first, kNone, stages.front().num_nodes(), "first");
  OAS_REQUIRE(first.empty() != model.reading_first(), "the plan {} and runs of its model {}",
              first.empty() ? "begins with an action" : "begins with a reading",
              first.empty() ? "with a reading" : "with an action");
}

void HorizonPolicy::check_fits(const Pomdp& truth) const {
  const HorizonStage& opening = stages.front();
  int actions = 0;
  for (const HorizonStage& stage : stages) {
    actions = std::max(actions, *std::max_element(stage.actions.begin(), stage.actions.end()));
  }
  const auto readings = static_cast<std::size_t>(truth.num_observations());
  const auto own =
      opening.next.empty() ? first.size() : opening.next.size() / opening.actions.size();
  OAS_REQUIRE(actions < truth.num_actions() && (own == 0 || own == readings),
              "the plan takes action {} and knows {} observations, but the model is {}", actions,
              own, truth.brief());
  OAS_REQUIRE(first.empty() || truth.reading_first(),
              "the plan begins with a reading, and runs of this model begin with an action");
}

std::string HorizonPolicy::brief() const {
  const auto counted = [](auto count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  return fmt::format("{} in {}", counted(num_nodes(), "node"), counted(num_steps(), "stage"));
}

void HorizonAgent::begin(Observation first) {
  OAS_REQUIRE(first == kMissing || policy_->first.empty() ||
                  static_cast<std::size_t>(first) < policy_->first.size(),
              "first reading {} of {}", first.value(), policy_->first.size());
  node_ = policy_->first_node(first);
}

Choice HorizonAgent::act(Rng& /*rng*/) {
  OAS_REQUIRE(step_ < policy_->stages.size(), "the plan is over after {} steps",
              policy_->num_steps());
  return {Action{policy_->stages[step_].actions[static_cast<std::size_t>(node_)]}, 1.0};
}

void HorizonAgent::observe(Observation observation) {
  OAS_REQUIRE(step_ < policy_->stages.size(), "the plan is over after {} steps",
              policy_->num_steps());
  OAS_REQUIRE(observation != kMissing,
              "the observation of step {} is missing; a plan for a horizon needs every one",
              step_ + 1);
  const HorizonStage& stage = policy_->stages[step_++];
  if (stage.next.empty()) return;
  const auto readings = stage.next.size() / stage.actions.size();
  check_observation(observation, static_cast<int>(readings));
  node_ =
      stage
          .next[static_cast<std::size_t>(node_) * readings + static_cast<std::size_t>(observation)];
}

}  // namespace oas
