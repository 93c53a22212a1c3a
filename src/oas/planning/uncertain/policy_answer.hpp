#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "oas/core/parallel.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/policies/asked_policy.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"

namespace oas {

/// What a policy does to a model, and to each of some others.
struct PolicyAnswer {
  ControllerValue value;
  PosteriorValue drawn;    ///< empty without draws
  double tolerance = 0.0;  ///< beliefs nearer than this share a node; 0: exact
  /// Set where so few nodes act otherwise than the policy itself does: all is simulated then.
  std::optional<GainInterval> simulated;
};

/// What is asked about a policy, and how.
struct AnswerOptions {
  /// Unset: the long-run average and shares of the steps. Else gains are the discounted sums of
  /// rewards from the start, and frequencies are discounted shares.
  std::optional<double> discount = {};
  SimulationOptions simulation = {};
};

/// Steps of the simulation in each draw, at most.
inline constexpr std::uint64_t kSimulatedStepsPerDraw = 20'000;

/// Exact where the policy is a controller. A policy on beliefs acts as one with at most
/// kMostBeliefNodes nodes; where that takes rounding, the policy itself is simulated in `model`,
/// and unless both agree within the simulation's limits and a thousandth of the rewards, all
/// answers are those of simulations; but not where the simulation did not last until states that
/// are never left (GainInterval::transient). Same bytes for any number of threads. Throws
/// InvalidArgument as started(), evaluate_controller() and evaluate_discounted() do.
[[nodiscard]] PolicyAnswer answer_about(const AskedPolicy& policy, const Pomdp& model,
                                        std::span<const Pomdp> draws = {},
                                        const AnswerOptions& options = {},
                                        Parallelism parallelism = {});

}  // namespace oas
