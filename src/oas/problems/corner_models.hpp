#pragma once

#include <span>

#include "oas/problems/named.hpp"

/// Small models without a story, each in a corner where estimators and their error bars are tried
/// hard: probabilities of exactly 0 and 1, periodic, reducible and absorbing chains, rows that are
/// hardly ever visited, sensors that are perfect, weak, blind, or that cannot tell two states
/// apart. Rewards are there so that a reactive policy can log them, and mean nothing. Use the name
/// (corner/ring-4) wherever a problem's name is taken.
namespace oas {

/// All corner models; names begin with corner/.
[[nodiscard]] std::span<const ProblemInfo> corner_models();

}  // namespace oas
