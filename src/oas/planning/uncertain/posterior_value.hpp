#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/policies/controller.hpp"

namespace oas {

/// A quantity over the drawn dynamics.
struct DrawnRange {
  double mean = 0.0;
  double lower = 0.0;  ///< limits that leave half of 1 - confidence out on each side
  double upper = 0.0;
};

/// The mean and the limits (limit_of_draws) of these values, at least one. Throws InvalidArgument
/// unless 0 < confidence < 1.
[[nodiscard]] DrawnRange range_of(std::vector<double> values, double confidence);

/// The same with limits that hold `value`, too.
[[nodiscard]] inline DrawnRange holding(DrawnRange range, double value) {
  return {range.mean, std::min(range.lower, value), std::max(range.upper, value)};
}

/// The mean of the least `share` of the values (the conditional value at risk), the last of them
/// counted in part; share in (0, 1].
[[nodiscard]] double mean_of_least(std::vector<double> values, double share);

/// What one policy does in each of many drawn models.
struct PosteriorValue {
  std::vector<double> gains;        ///< by draw
  std::vector<double> frequencies;  ///< [draw][S]

  [[nodiscard]] std::vector<double> frequencies_of(int state, int num_states) const;
};

/// Lets the system be each of the draws in turn while the controller, which knows nothing of that,
/// acts: evaluate_controller() in each, of equally many states. A controller made of a plan keeps
/// the plan's belief, with the plan's model. Same bytes for any number of threads.
[[nodiscard]] PosteriorValue evaluate_over(std::span<const Pomdp> draws,
                                           const Controller& controller,
                                           Parallelism parallelism = {});

/// The same by evaluate_discounted(): gains are discounted sums of rewards.
[[nodiscard]] PosteriorValue discounted_over(std::span<const Pomdp> draws,
                                             const Controller& controller, double discount,
                                             Parallelism parallelism = {});

}  // namespace oas
