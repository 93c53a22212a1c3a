#include "oas/planning/policies/asked_policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/model/label_lookup.hpp"

namespace oas {

namespace {

constexpr std::array<std::string_view, 4> kPolicyKinds = {
    "constant:", "schedule:", "threshold:", "log:"};
constexpr std::string_view kUniform = "uniform";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// If the probability of some states is above `limit`: this action.
struct Condition {
  std::vector<int> states;
  double limit = 0.0;
  int action = 0;
};

Condition parse_condition(std::string_view text, const Pomdp& model) {
  const auto above = text.find('>');
  const auto then = text.find('=', above == std::string_view::npos ? 0 : above);
  OAS_REQUIRE(above != std::string_view::npos && then != std::string_view::npos,
              "'{}' is not a condition; one is STATE>PROBABILITY=ACTION", text);
  Condition condition;
  for (const std::string_view name : split(text.substr(0, above), '+')) {
    condition.states.push_back(element_named(name, model.states(), "state"));
  }
  const std::string_view number = trimmed(text.substr(above + 1, then - above - 1));
  const auto [stop, error] =
      std::from_chars(number.data(), number.data() + number.size(), condition.limit);
  OAS_REQUIRE(error == std::errc() && stop == number.data() + number.size() &&
                  condition.limit >= 0.0 && condition.limit <= 1.0,
              "'{}' is not a probability between 0 and 1", number);
  condition.action = element_named(trimmed(text.substr(then + 1)), model.actions(), "action");
  return condition;
}

BeliefRule parse_threshold(std::string_view text, const Pomdp& model) {
  OAS_REQUIRE(model.has_transition(), "thresholds need a model with transition to keep the belief");
  std::vector<std::string_view> parts = split(text, ',');
  const std::string_view last = parts.back();
  OAS_REQUIRE(last.starts_with("else="), "'{}' must be else=ACTION, what is done otherwise", last);
  const int otherwise = element_named(trimmed(last.substr(5)), model.actions(), "action");
  parts.pop_back();
  OAS_REQUIRE(!parts.empty(), "there is no condition; one is STATE>PROBABILITY=ACTION");
  std::vector<Condition> conditions;
  for (const std::string_view part : parts) conditions.push_back(parse_condition(part, model));
  return {model, [conditions, otherwise](std::span<const double> belief) {
            for (const Condition& condition : conditions) {
              double probability = 0.0;
              for (const int s : condition.states) {
                probability += belief[static_cast<std::size_t>(s)];
              }
              if (probability > condition.limit) return condition.action;
            }
            return otherwise;
          }};
}

std::vector<Action> parse_actions(std::string_view text, const Pomdp& model) {
  std::vector<Action> actions;
  for (const std::string_view name : split(text, ',')) {
    actions.emplace_back(element_named(name, model.actions(), "action"));
  }
  return actions;
}

AskedPolicy from_file(const Plan& plan, const std::string& name, const Pomdp& model) {
  plan.require_endless("forecasts and tables of policies are about the long run");
  OAS_REQUIRE(plan.model.num_actions() == model.num_actions() &&
                  plan.model.num_observations() == model.num_observations(),
              "the plan was made for {}, not for {}", plan.model.brief(), model.brief());
  BeliefRule rule = rule_of(plan);
  rule.model = rule.model.with_rows(model.rows());  // a run begins as the model says
  return {name, std::move(rule), false, "beliefs kept with the plan's own model"};
}

AskedPolicy from_file(const AlphaPolicy& policy, const std::string& name, const Pomdp& model) {
  return {name,
          BeliefRule{model, [actions = AlphaActions(policy, model)](
                                std::span<const double> b) mutable { return actions(b); }},
          false, ""};
}

AskedPolicy from_file(const PolicyGraph& graph, const std::string& name, const Pomdp& model) {
  const GraphEvaluation best = evaluate_graph(model, graph);
  Controller controller = controller_of(graph, best.start_node, model.num_actions());
  controller.first = best.first;
  return {name, std::move(controller), false,
          best.first.empty() ? fmt::format("starts in node {}", best.start_node)
                             : "starts in the best node after each first reading"};
}

}  // namespace

bool is_policy_text(std::string_view text) {
  if (text == kUniform) return true;
  for (const std::string_view kind : kPolicyKinds) {
    if (text.starts_with(kind)) return true;
  }
  return false;
}

AskedPolicy parse_policy_text(const std::string& text, const Pomdp& model) {
  if (text == kUniform) return {text, uniform_controller(model), false, ""};
  const auto colon = text.find(':');
  OAS_REQUIRE(colon != std::string::npos,
              "policy '{}': expected uniform, constant:ACTION, schedule:ACTION,…, "
              "threshold:STATE>PROBABILITY=ACTION,…,else=ACTION, log:FILE or a file",
              text);
  const std::string_view kind = std::string_view(text).substr(0, colon);
  const std::string_view rest = trimmed(std::string_view(text).substr(colon + 1));
  try {
    if (kind == "threshold") return {text, parse_threshold(rest, model), false, ""};
    const std::vector<Action> actions = parse_actions(rest, model);
    OAS_REQUIRE(kind != "constant" || actions.size() == 1,
                "a constant policy has one action; schedule:{} takes them in turn", rest);
    OAS_REQUIRE(kind == "constant" || kind == "schedule", "there is no policy of kind {}", kind);
    return {text, schedule_controller(actions, model), false, ""};
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("policy {}: {}", text, error.what()));
  }
}

AskedPolicy asked_policy(const AnyPolicy& policy, const std::string& name, const Pomdp& model) {
  return std::visit([&](const auto& value) { return from_file(value, name, model); }, policy);
}

StartedPolicy started(const AskedPolicy& policy) {
  if (const auto* const controller = std::get_if<Controller>(&policy.acts)) return {*controller};
  const auto& rule = std::get<BeliefRule>(policy.acts);
  const int fitting = std::max(1, static_cast<int>(kMaxGraphPairs) / rule.model.num_states());
  BeliefNodes nodes = nodes_from_start(rule, std::min(kMostBeliefNodes, fitting));
  return {std::move(nodes.controller), nodes.tolerance > 1e-6 ? nodes.tolerance : 0.0};
}

}  // namespace oas
