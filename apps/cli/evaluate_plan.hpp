#pragma once

#include <optional>
#include <string>

#include "cli.hpp"
#include "evaluate_policy.hpp"
#include "oas/model/pomdp.hpp"
#include "what_if.hpp"

namespace oas::cli {

/// What `oas evaluate` was told.
struct EvaluateArguments {
  Common common;
  std::string model;
  std::string plan;
  std::string filter;
  EvaluationOptions evaluation;
  WhatIf question;
};

/// The model of --filter, where one is named.
[[nodiscard]] std::optional<Pomdp> load_filter(const EvaluateArguments& options);

/// Evaluates the one PLAN and prints what was found.
void evaluate_plan(EvaluateArguments& options);

}  // namespace oas::cli
