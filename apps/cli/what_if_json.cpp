#include <algorithm>
#include <cmath>

#include "what_if_report.hpp"

namespace oas::cli {

using Json = nlohmann::ordered_json;

namespace {

Json json_of(const WhatIf& question, const Answer& answer, const Pomdp& model,
             const Answer& first) {
  const std::string gain = question.discount ? "worth" : "gain";
  const double confidence = question.confidence;
  Json json = {{"policy", answer.policy.name}, {gain, answer.found.value.gain}};
  if (!answer.found.drawn.gains.empty()) {
    const DrawnRange range = answer.gains(confidence);
    json[gain + "_limits"] = {range.lower, range.upper};
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

Json answers_json(const WhatIf& question, const Pomdp& model, const DrawnModels& drawn,
                  const std::vector<Answer>& answers, const std::string& end) {
  Json document = {{"model", question.name}, {"draws", drawn.models.size()}};
  if (question.discount) document["discount"] = *question.discount;
  if (!end.empty()) document["notes"].push_back(end);
  if (!drawn.models.empty()) document["confidence"] = question.confidence;
  for (const Answer& answer : answers) {
    document["policies"].push_back(json_of(question, answer, model, answers.front()));
  }
  return document;
}

}  // namespace oas::cli
