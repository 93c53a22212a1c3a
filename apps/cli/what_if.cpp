#include "what_if.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/jobs/log_policy.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"
#include "posterior.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kShownStates = 8;

// One policy and what it does.
struct Answer {
  AskedPolicy policy;
  double tolerance = 0.0;
  ControllerValue value;
  PosteriorValue drawn;
};

Answer answer(AskedPolicy policy, const Pomdp& model, std::span<const Pomdp> draws,
              const std::optional<Pomdp>& filter, const Common& common) {
  if (auto* const rule = std::get_if<BeliefRule>(&policy.acts); rule != nullptr && filter) {
    OAS_REQUIRE(filter->num_states() == rule->model.num_states() &&
                    filter->num_actions() == rule->model.num_actions() &&
                    filter->num_observations() == rule->model.num_observations(),
                "--filter is a model of {}, but the policy keeps beliefs for {}", filter->brief(),
                rule->model.brief());
    rule->model = *filter;
    policy.note = "";
  }
  const StartedPolicy ready = started(policy);
  Answer result{
      std::move(policy), ready.tolerance, evaluate_controller(model, ready.controller), {}};
  if (!draws.empty()) {
    result.drawn = evaluate_over(draws, ready.controller, common.parallelism());
  }
  return result;
}

// The share of the draws in which a policy earns more than another one.
double share_better(const PosteriorValue& value, const PosteriorValue& other) {
  double better = 0.0;
  for (std::size_t i = 0; i < value.gains.size(); ++i) {
    better += value.gains[i] > other.gains[i] ? 1.0 : 0.0;
  }
  return better / static_cast<double>(value.gains.size());
}

std::string table_of(const std::vector<Answer>& answers, const Pomdp& model, double confidence) {
  const bool limits = !answers.front().drawn.gains.empty();
  const int states = std::min(model.num_states(), kShownStates);
  std::vector<std::string> header = {"policy", "gain"};
  if (limits && answers.size() > 1) header.emplace_back("above the first");
  for (int s = 0; s < states; ++s) header.push_back("in " + model.states()[s]);
  Table table(header);
  for (const Answer& answer : answers) {
    std::vector<std::string> row = {answer.policy.name, fmt::format("{:.5f}", answer.value.gain)};
    if (limits) {
      const DrawnRange range = range_of(answer.drawn.gains, confidence);
      row.back() += fmt::format(" [{:.5f}, {:.5f}]", range.lower, range.upper);
      if (answers.size() > 1) {
        row.push_back(&answer == &answers.front()
                          ? ""
                          : fmt::format("{:.3g} %",
                                        100.0 * share_better(answer.drawn, answers.front().drawn)));
      }
    }
    for (int s = 0; s < states; ++s) {
      row.push_back(fmt::format("{:.4f}", answer.value.frequencies[static_cast<std::size_t>(s)]));
    }
    table.add(std::move(row));
  }
  std::string text = table.text();
  if (states < model.num_states()) {
    text += fmt::format("  and {} more states; --json has all\n", model.num_states() - states);
  }
  return text;
}

std::string remarks_on(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) {
    std::string remark = answer.policy.note;
    if (answer.tolerance > 0.0) {
      remark += fmt::format("{}evaluated with beliefs rounded to within {:g}",
                            remark.empty() ? "" : "; ", answer.tolerance);
    }
    if (answer.value.num_classes > 1) {
      remark += fmt::format("{}its runs end in one of {} ways; this is their mean",
                            remark.empty() ? "" : "; ", answer.value.num_classes);
    }
    if (!remark.empty()) text += fmt::format("{}: {}\n", answer.policy.name, remark);
  }
  return text.empty() ? text : "\n" + text;
}

Json json_of(const Answer& answer, const Pomdp& model, double confidence, const Answer& first) {
  Json json = {{"policy", answer.policy.name}, {"gain", answer.value.gain}};
  if (!answer.drawn.gains.empty()) {
    const DrawnRange range = range_of(answer.drawn.gains, confidence);
    json["gain_limits"] = {range.lower, range.upper};
    json["share_of_draws_above_the_first"] = share_better(answer.drawn, first.drawn);
  }
  for (int s = 0; s < model.num_states(); ++s) {
    Json& state = json["frequencies"][model.states()[s]];
    state = {{"value", answer.value.frequencies[static_cast<std::size_t>(s)]}};
    if (answer.drawn.gains.empty()) continue;
    const DrawnRange range =
        range_of(answer.drawn.frequencies_of(s, model.num_states()), confidence);
    state["limits"] = {range.lower, range.upper};
  }
  json["closed_classes"] = answer.value.num_classes;
  json["belief_tolerance"] = answer.tolerance;
  if (!answer.policy.note.empty()) json["note"] = answer.policy.note;
  return json;
}

}  // namespace

void compare_policies(const WhatIf& question, const Pomdp& model,
                      const std::optional<Pomdp>& filter, const Common& common) {
  OAS_REQUIRE(question.confidence > 0.0 && question.confidence < 1.0,
              "--confidence is {}; it must lie strictly between 0 and 1", question.confidence);
  const LogOptions rows = log_options(question.rows);
  std::vector<AskedPolicy> policies;
  for (const std::string& text : question.policies) {
    policies.push_back(ask_policy(text, model, rows));
  }
  const DrawnModels drawn = draws_in(question.name, model);
  const std::vector<Pomdp>& draws = drawn.models;
  std::vector<std::string> warnings =
      warn_of_undetermined(question.name, model, "the gain", common);
  warn_of_exact_rewards(question.name, drawn, common, warnings);
  std::vector<Answer> answers;
  while_shown(common, "evaluating", [&] {
    for (AskedPolicy& policy : policies) {
      const std::string name = policy.name;
      answers.push_back(about_file("policy " + name, [&] {
        return answer(std::move(policy), model, draws, filter, common);
      }));
    }
  });
  if (common.json) {
    Json document = {{"model", question.name}, {"draws", draws.size()}};
    if (!draws.empty()) document["confidence"] = question.confidence;
    for (const Answer& answer : answers) {
      document["policies"].push_back(json_of(answer, model, question.confidence, answers.front()));
    }
    if (!warnings.empty()) document["warnings"] = warnings;
    print_json(common, document);
  }
  std::string text =
      fmt::format("{}: average reward and share of steps in each state, in the long run\n\n",
                  question.name) +
      table_of(answers, model, question.confidence) + remarks_on(answers);
  if (!draws.empty()) {
    text += fmt::format(
        "\n[ ]: {:g} % of {} {} drawn from the posterior\n", 100.0 * question.confidence,
        draws.size(), drawn.drawn_rewards ? "models, dynamics and rewards," : "transition models");
  }
  print(common, text);
}

}  // namespace oas::cli
