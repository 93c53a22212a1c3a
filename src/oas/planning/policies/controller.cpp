#include "oas/planning/policies/controller.hpp"

#include <algorithm>
#include <map>

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
  OAS_REQUIRE(first.empty() || first.size() == static_cast<std::size_t>(num_observations),
              "first nodes after {} of {} readings", first.size(), num_observations);
  for (const int node : first) {
    OAS_REQUIRE(node == kNone || (node >= 0 && node < num_nodes()), "first node {} of {}", node,
                num_nodes());
  }
}

void Controller::check_fits(const Pomdp& model) const {
  validate();
  OAS_REQUIRE(num_actions == model.num_actions() && num_observations == model.num_observations(),
              "the policy is for {} actions and {} observations, but the model is {}", num_actions,
              num_observations, model.brief());
}

std::vector<StartPair> start_law(const Pomdp& model, const Controller& controller) {
  const auto states = static_cast<std::size_t>(model.num_states());
  OAS_REQUIRE(controller.first.empty() || model.reading_first(),
              "the policy begins with a reading, and runs of this model begin with an action");
  std::map<std::size_t, double> law;
  const auto add = [&](int node, std::size_t state, double probability) {
    if (probability > 0.0) law[static_cast<std::size_t>(node) * states + state] += probability;
  };
  for (std::size_t s = 0; s < states; ++s) {
    const double at = model.start()[s];
    if (controller.first.empty()) {
      add(controller.start, s, at);
      continue;
    }
    for (Observation o{0}; o < model.num_observations(); ++o) {
      const double both = at * (*model.first_observation())(Action{0}, State{s}, o);
      const int node = controller.first[static_cast<std::size_t>(o)];
      OAS_REQUIRE(!(both > 0.0) || node != Controller::kNone,
                  "the policy has no node for the first reading {}, which can come in state {}",
                  model.observations()[o.value()], model.states()[static_cast<int>(s)]);
      add(node, s, both);
    }
  }
  std::vector<StartPair> pairs;
  for (const auto& [pair, probability] : law) pairs.push_back({pair, probability});
  return pairs;
}

Controller controller_of(const PolicyGraph& graph, int start, int num_actions) {
  graph.validate();
  Controller controller;
  controller.num_actions = num_actions;
  controller.num_observations = graph.num_observations;
  controller.start = start;
  controller.first = graph.first;
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
                               const Pomdp& model, std::span<const double> first_given) {
  const auto actions = static_cast<std::size_t>(model.num_actions());
  const auto observations = static_cast<std::size_t>(model.num_observations());
  OAS_REQUIRE(given.size() == actions * observations * actions && first.size() == actions,
              "{} and {} probabilities for {} actions and {} observations", given.size(),
              first.size(), actions, observations);
  OAS_REQUIRE(first_given.empty() || first_given.size() == observations * actions,
              "{} probabilities of first actions for {} actions and {} observations",
              first_given.size(), actions, observations);
  Controller controller = empty_controller(model);
  controller.probabilities.assign(given.begin(), given.end());
  controller.probabilities.insert(controller.probabilities.end(), first.begin(), first.end());
  controller.start = static_cast<int>(actions * observations);
  for (std::size_t o = 0; o < first_given.size() / actions; ++o) {
    const auto shares = first_given.subspan(o * actions, actions);
    controller.first.push_back(controller.num_nodes());
    controller.probabilities.insert(controller.probabilities.end(), shares.begin(), shares.end());
  }
  for (int n = 0; n < controller.num_nodes(); ++n) {
    for (std::size_t row = 0; row < actions * observations; ++row) {
      controller.next.push_back(static_cast<int>(row));
    }
  }
  controller.validate();
  return controller;
}

}  // namespace oas
