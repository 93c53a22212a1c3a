#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "oas/model/pomdp.hpp"

namespace oas::test {

/// A model in a corner and its name, timing included.
struct Corner {
  std::string name;
  Pomdp model;
};

void PrintTo(const Corner& corner, std::ostream* out);

/// The named corner models (oas/problems/corner_models.hpp), and what is odder than these: one of
/// everything, many more observations than states and the reverse, entries of 5e-324, rewards of
/// ±1e99 and 1e-300, a state that nothing leads to, states and actions that are there twice,
/// sensors that rename states, one of α = 1e-3, readings that never come. Each in both timings.
/// Deterministic, periodic, reducible, absorbing, noiseless and blind ones are among them.
[[nodiscard]] const std::vector<Corner>& corners();

/// Its name as that of a test.
[[nodiscard]] std::string corner_name(const testing::TestParamInfo<Corner>& info);

/// Each entry is in [0, 1] and they sum to 1.
void expect_distribution(std::span<const double> values);

}  // namespace oas::test
