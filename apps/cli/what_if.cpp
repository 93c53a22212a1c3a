#include "what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/jobs/log_policy.hpp"
#include "oas/planning/uncertain/policy_answer.hpp"
#include "posterior.hpp"
#include "setting_options.hpp"
#include "undetermined.hpp"
#include "what_if_report.hpp"

namespace oas::cli {

namespace {

bool keeps_belief(const AskedPolicy& policy) {
  return std::holds_alternative<BeliefRule>(policy.acts);
}

void keep_beliefs_with(const std::optional<Pomdp>& filter, AskedPolicy& policy) {
  if (auto* const rule = std::get_if<BeliefRule>(&policy.acts); rule != nullptr && filter) {
    OAS_REQUIRE(filter->num_states() == rule->model.num_states() &&
                    filter->num_actions() == rule->model.num_actions() &&
                    filter->num_observations() == rule->model.num_observations(),
                "--filter is a model of {}, but the policy keeps beliefs for {}", filter->brief(),
                rule->model.brief());
    rule->model = *filter;
    policy.note = "";
  }
}

Answer answer(AskedPolicy policy, const Pomdp& model, const DrawnModels& draws,
              const AnswerOptions& options, const Common& common) {
  Answer result{std::move(policy), {}, {}};
  result.found = answer_about(result.policy, model, draws.models, options, common.parallelism());
  for (const Pomdp& extreme : draws.extremes) {
    result.extremes.push_back(
        answer_about(result.policy, extreme, {}, options, common.parallelism()).value);
  }
  return result;
}

}  // namespace

void compare_policies(const WhatIf& question, const Pomdp& model,
                      const std::optional<Pomdp>& filter, const Common& common) {
  const LogOptions rows = log_options(question.rows);
  std::vector<AskedPolicy> policies;
  for (const std::string& text : question.policies) {
    policies.push_back(ask_policy(text, model, rows));
  }
  if (std::none_of(policies.begin(), policies.end(), keeps_belief)) {
    refuse_options(common, {"--filter"}, "none of these policies keeps a belief");
  }
  const DrawnModels drawn = draws_in(question.name, model);
  if (drawn.models.empty()) {
    refuse_options(common, {"--confidence"}, why_no_limits(question.name));
  }
  std::vector<std::string> warnings =
      warn_of_undetermined(question.name, model, "the gain", common);
  warn_of_exact_rewards(question.name, drawn, common, warnings);
  std::vector<Answer> answers;
  while_shown(common, "evaluating", [&] {
    for (AskedPolicy& policy : policies) {
      const std::string name = policy.name;
      answers.push_back(about_file("policy " + name, [&] {
        keep_beliefs_with(filter, policy);
        return answer(std::move(policy), model, drawn, {question.discount, {}}, common);
      }));
    }
  });
  print_answers(question, model, drawn, answers, warnings, common);
}

}  // namespace oas::cli
