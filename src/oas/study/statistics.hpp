#pragma once

#include <optional>
#include <span>

#include "oas/core/rng.hpp"

namespace oas {

/// A mean with a confidence interval.
struct MeanInterval {
  double mean = 0.0;
  double lower = 0.0;  ///< NaN, as upper, when there are fewer than two values
  double upper = 0.0;
  int count = 0;
};

/// Student's interval x̄ ± t_{n-1} s/√n: exact for normal values, too narrow for few skewed ones.
/// Throws InvalidArgument on no values or a level outside (0, 1).
[[nodiscard]] MeanInterval student_interval(std::span<const double> values, double level = 0.95);

/// Bootstraps of fewer values are not made.
inline constexpr int kFewestForBootstrap = 8;

/// Bootstrap-t interval: quantiles of (x̄* - x̄)/se* over resamples in place of Student's t, so
/// that skewness is taken in. Cut to the range of the values: where one of ten lies far out,
/// resamples without it have next to no se*, and the ends would be anywhere. With fewer than
/// kFewestForBootstrap values, or when they are all equal, Student's.
[[nodiscard]] MeanInterval bootstrap_interval(std::span<const double> values, double level,
                                              int resamples, Rng& rng);

/// Least-squares slope of log y against log x over the points where both are positive; nothing when
/// those are fewer than two distinct x.
[[nodiscard]] std::optional<double> log_log_slope(std::span<const double> x,
                                                  std::span<const double> y);

/// Limits of a probability from how often it happened (Clopper and Pearson 1934): never too narrow.
/// [0, 1] without trials. Throws InvalidArgument unless 0 <= hits <= trials and level in (0, 1).
struct ShareInterval {
  double lower = 0.0;
  double upper = 1.0;
};
[[nodiscard]] ShareInterval clopper_pearson(double hits, double trials, double level = 0.95);

/// P(at most `hits` of `trials`) when each happens with probability `share`; 1 without trials.
[[nodiscard]] double binomial_tail(double hits, double trials, double share);

/// The middle value, or the mean of the two in the middle. Throws InvalidArgument on no values.
[[nodiscard]] double median(std::span<const double> values);

}  // namespace oas
