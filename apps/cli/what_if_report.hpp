#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/jobs/drawn_models.hpp"
#include "oas/planning/uncertain/policy_answer.hpp"
#include "what_if.hpp"

/// What `oas evaluate --policy` prints.
namespace oas::cli {

/// One policy and what it does.
struct Answer {
  AskedPolicy policy;
  PolicyAnswer found;
  std::vector<ControllerValue> extremes;  ///< in DrawnModels::extremes

  [[nodiscard]] DrawnRange gains(double confidence) const {
    DrawnRange range = range_of(found.drawn.gains, confidence);
    for (const ControllerValue& value : extremes) range = holding(range, value.gain);
    return range;
  }
  [[nodiscard]] DrawnRange frequencies(int state, double confidence) const {
    const auto states = static_cast<int>(found.value.frequencies.size());
    DrawnRange range = range_of(found.drawn.frequencies_of(state, states), confidence);
    for (const ControllerValue& value : extremes) {
      range = holding(range, value.frequencies[static_cast<std::size_t>(state)]);
    }
    return range;
  }
};

/// The share of the draws in which a policy earns more than another one, by more than rounding;
/// nothing where the two earn the same in all.
[[nodiscard]] std::optional<double> share_better(const PosteriorValue& value,
                                                 const PosteriorValue& other);

/// For machines; `end` is what about_the_end() says, and empty where nothing is to be said.
[[nodiscard]] nlohmann::ordered_json answers_json(const WhatIf& question, const Pomdp& model,
                                                  const DrawnModels& drawn,
                                                  const std::vector<Answer>& answers,
                                                  const std::string& end);

/// The table of all policies, with what is to be said about each.
void print_answers(const WhatIf& question, const Pomdp& model, const DrawnModels& drawn,
                   const std::vector<Answer>& answers, const std::vector<std::string>& warnings,
                   const Common& common);

}  // namespace oas::cli
