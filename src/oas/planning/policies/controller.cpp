#include "oas/planning/policies/controller.hpp"

#include <algorithm>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// No node yet, for this model.
Controller empty_controller(const Pomdp& model) {
  Controller controller;
  controller.num_actions = model.num_actions();
  controller.num_observations = model.num_observations();
  return controller;
}

// A node with these probabilities that is followed by `next` whatever is done and seen.
void add_node(Controller& controller, std::span<const double> probabilities, int next) {
  controller.probabilities.insert(controller.probabilities.end(), probabilities.begin(),
                                  probabilities.end());
  controller.next.insert(
      controller.next.end(),
      static_cast<std::size_t>(controller.num_actions * controller.num_observations), next);
}

}  // namespace

void Controller::validate() const {
  OAS_REQUIRE(num_actions >= 1 && num_observations >= 1,
              "a controller for {} actions and {} observations", num_actions, num_observations);
  const auto nodes = static_cast<std::size_t>(num_nodes());
  OAS_REQUIRE(nodes >= 1, "a controller without nodes");
  OAS_REQUIRE(probabilities.size() == nodes * static_cast<std::size_t>(num_actions) &&
                  next.size() == probabilities.size() * static_cast<std::size_t>(num_observations),
              "{} probabilities and {} next nodes for {} nodes, {} actions and {} observations",
              probabilities.size(), next.size(), nodes, num_actions, num_observations);
  OAS_REQUIRE(start >= 0 && start < num_nodes(), "start node {} of {}, numbered from 0", start,
              num_nodes());
  for (std::size_t n = 0; n < nodes; ++n) {
    check_simplex(std::span(probabilities)
                      .subspan(n * static_cast<std::size_t>(num_actions),
                               static_cast<std::size_t>(num_actions)),
                  fmt::format("probabilities[{}]", n));
  }
  for (const int node : next) {
    OAS_REQUIRE(node == kNone || (node >= 0 && node < num_nodes()), "next node {} of {}", node,
                num_nodes());
  }
}

void Controller::check_fits(const Pomdp& model) const {
  validate();
  OAS_REQUIRE(num_actions == model.num_actions() && num_observations == model.num_observations(),
              "the policy is for {} actions and {} observations, but the model is {}", num_actions,
              num_observations, model.brief());
}

Controller controller_of(const PolicyGraph& graph, int start, int num_actions) {
  graph.validate();
  Controller controller;
  controller.num_actions = num_actions;
  controller.num_observations = graph.num_observations;
  controller.start = start;
  std::vector<double> sure(static_cast<std::size_t>(num_actions));
  for (int n = 0; n < graph.num_nodes(); ++n) {
    const int action = graph.actions[static_cast<std::size_t>(n)];
    OAS_REQUIRE(action < num_actions, "node {} takes action {} of {}", n, action, num_actions);
    std::fill(sure.begin(), sure.end(), 0.0);
    sure[static_cast<std::size_t>(action)] = 1.0;
    add_node(controller, sure, Controller::kNone);
    const auto first =
        static_cast<std::size_t>((n * num_actions + action) * graph.num_observations);
    for (Observation o{0}; o < graph.num_observations; ++o) {
      controller.next[first + static_cast<std::size_t>(o)] = graph.next_node(n, o);
    }
  }
  controller.validate();
  return controller;
}

Controller schedule_controller(std::span<const Action> schedule, const Pomdp& model) {
  OAS_REQUIRE(!schedule.empty(), "a schedule needs at least one action");
  Controller controller = empty_controller(model);
  std::vector<double> sure(static_cast<std::size_t>(model.num_actions()));
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    OAS_REQUIRE(schedule[i].value() >= 0 && schedule[i].value() < model.num_actions(),
                "the schedule has action {}, but there are {}", schedule[i].value(),
                model.num_actions());
    std::fill(sure.begin(), sure.end(), 0.0);
    sure[static_cast<std::size_t>(schedule[i])] = 1.0;
    add_node(controller, sure, static_cast<int>((i + 1) % schedule.size()));
  }
  return controller;
}

Controller uniform_controller(const Pomdp& model) {
  Controller controller = empty_controller(model);
  const std::vector<double> same(static_cast<std::size_t>(model.num_actions()),
                                 1.0 / model.num_actions());
  add_node(controller, same, 0);
  return controller;
}

Controller last_row_controller(std::span<const double> given, std::span<const double> first,
                               const Pomdp& model) {
  const auto actions = static_cast<std::size_t>(model.num_actions());
  const auto observations = static_cast<std::size_t>(model.num_observations());
  OAS_REQUIRE(given.size() == actions * observations * actions && first.size() == actions,
              "{} and {} probabilities for {} actions and {} observations", given.size(),
              first.size(), actions, observations);
  Controller controller = empty_controller(model);
  controller.probabilities.assign(given.begin(), given.end());
  controller.probabilities.insert(controller.probabilities.end(), first.begin(), first.end());
  controller.start = static_cast<int>(actions * observations);
  for (std::size_t n = 0; n <= actions * observations; ++n) {
    for (std::size_t row = 0; row < actions * observations; ++row) {
      controller.next.push_back(static_cast<int>(row));
    }
  }
  controller.validate();
  return controller;
}

}  // namespace oas
