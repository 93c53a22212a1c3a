#pragma once

#include <span>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/pomdp.hpp"

/// The reference for all that computes with hidden states: sums over every path s_0 … s_n, straight
/// from the definition of a POMDP. S^(n+1) paths: for short rows only.
namespace oas::test {

struct PathPosterior {
  double likelihood = 0.0;  ///< P(observations of all rows | actions); missing ones summed out
  Matrix states;            ///< (n+1)×S: row t is P(s_t | all rows); only if likelihood > 0
};

[[nodiscard]] PathPosterior enumerate_paths(const Pomdp& model, std::span<const Action> actions,
                                            std::span<const Observation> observations);

}  // namespace oas::test
