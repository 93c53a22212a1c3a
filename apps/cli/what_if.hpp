#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::cli {

/// What `oas evaluate MODEL --policy …` is asked.
struct WhatIf {
  std::string name;  ///< of the model
  std::vector<std::string> policies;
  std::vector<Setting> rows;       ///< how logs are read
  double confidence = 0.95;        ///< of limits over the draws of an estimate
  std::optional<double> discount;  ///< unset: long-run averages

  template <class Fields>
  void visit(Fields& fields) {
    fields("confidence", confidence, {kAboveZero, kBelowOne},
           "level of the limits over the draws of an estimate, with --policy");
    fields("discount", discount, {kAboveZero, kBelowOne},
           "with --policy: the discounted sum from the start instead of the average");
  }
};

/// One table of all policies: gain, and how often the system is in each state.
void compare_policies(const WhatIf& question, const Pomdp& model,
                      const std::optional<Pomdp>& filter, const Common& common);

}  // namespace oas::cli
