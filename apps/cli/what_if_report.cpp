#include "what_if_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kShownStates = 8;

// The share of the draws in which a policy earns more than another one, by more than rounding;
// nothing where the two earn the same in all.
std::optional<double> share_better(const PosteriorValue& value, const PosteriorValue& other) {
  constexpr double kSame = 1e-9;
  double better = 0.0;
  bool differ = false;
  for (std::size_t i = 0; i < value.gains.size(); ++i) {
    const double difference = value.gains[i] - other.gains[i];
    const double scale = std::max({std::abs(value.gains[i]), std::abs(other.gains[i]), 1e-300});
    if (std::abs(difference) <= kSame * scale) continue;
    differ = true;
    better += difference > 0.0 ? 1.0 : 0.0;
  }
  return differ ? std::optional(better / static_cast<double>(value.gains.size())) : std::nullopt;
}

std::string share_text(const PosteriorValue& value, const PosteriorValue& other) {
  const std::optional<double> share = share_better(value, other);
  return share ? fmt::format("{:.3g} %", 100.0 * *share) : "the same";
}

std::string table_of(const std::vector<Answer>& answers, const Pomdp& model, double confidence) {
  const bool limits = !answers.front().found.drawn.gains.empty();
  const int states = std::min(model.num_states(), kShownStates);
  std::vector<std::string> header = {"policy", "gain"};
  if (limits && answers.size() > 1) header.emplace_back("above the first");
  for (int s = 0; s < states; ++s) header.push_back("in " + model.states()[s]);
  Table table(header);
  for (const Answer& answer : answers) {
    std::vector<std::string> row = {answer.policy.name,
                                    fmt::format("{:.5f}", answer.found.value.gain)};
    if (limits) {
      const DrawnRange range = answer.gains(confidence);
      row.back() += fmt::format(" [{:.5f}, {:.5f}]", range.lower, range.upper);
      if (answers.size() > 1) {
        row.push_back(&answer == &answers.front()
                          ? ""
                          : share_text(answer.found.drawn, answers.front().found.drawn));
      }
    }
    for (int s = 0; s < states; ++s) {
      row.push_back(
          fmt::format("{:.4f}", answer.found.value.frequencies[static_cast<std::size_t>(s)]));
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
    if (const auto& simulated = answer.found.simulated) {
      remark += fmt::format(
          "{}simulated, {:.5g} ± {:.2g}, each draw in {} steps: {} beliefs are too "
          "few for it",
          remark.empty() ? "" : "; ", simulated->mean, simulated->half_width,
          kSimulatedStepsPerDraw, kMostBeliefNodes);
    } else if (answer.found.tolerance > 0.0) {
      remark += fmt::format("{}evaluated with beliefs rounded to within {:g}",
                            remark.empty() ? "" : "; ", answer.found.tolerance);
    }
    if (answer.found.value.num_classes > 1) {
      remark += fmt::format("{}its runs end in one of {} ways; this is their mean",
                            remark.empty() ? "" : "; ", answer.found.value.num_classes);
    }
    if (!remark.empty()) text += fmt::format("{}: {}\n", answer.policy.name, remark);
  }
  return text.empty() ? text : "\n" + text;
}

Json json_of(const Answer& answer, const Pomdp& model, double confidence, const Answer& first) {
  Json json = {{"policy", answer.policy.name}, {"gain", answer.found.value.gain}};
  if (!answer.found.drawn.gains.empty()) {
    const DrawnRange range = answer.gains(confidence);
    json["gain_limits"] = {range.lower, range.upper};
    json["share_of_draws_above_the_first"] =
        share_better(answer.found.drawn, first.found.drawn).value_or(0.0);
  }
  for (int s = 0; s < model.num_states(); ++s) {
    Json& state = json["frequencies"][model.states()[s]];
    state = {{"value", answer.found.value.frequencies[static_cast<std::size_t>(s)]}};
    if (answer.found.drawn.gains.empty()) continue;
    const DrawnRange range = answer.frequencies(s, confidence);
    state["limits"] = {range.lower, range.upper};
  }
  json["closed_classes"] = answer.found.value.num_classes;
  json["belief_tolerance"] = answer.found.tolerance;
  json["simulated"] = answer.found.simulated.has_value();
  if (!answer.policy.note.empty()) json["note"] = answer.policy.note;
  return json;
}

}  // namespace

void print_answers(const WhatIf& question, const Pomdp& model, const DrawnModels& drawn,
                   const std::vector<Answer>& answers, const std::vector<std::string>& warnings,
                   const Common& common) {
  if (common.json) {
    Json document = {{"model", question.name}, {"draws", drawn.models.size()}};
    if (!drawn.models.empty()) document["confidence"] = question.confidence;
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
  if (!drawn.models.empty()) {
    text += fmt::format("\n[ ]: {:g} % of {} {} drawn from the posterior\n",
                        100.0 * question.confidence, drawn.models.size(),
                        drawn.drawn_rewards || drawn.drawn_sensors
                            ? fmt::format("models, {},", drawn.what())
                            : "transition models");
  }
  print(common, text);
}

}  // namespace oas::cli
