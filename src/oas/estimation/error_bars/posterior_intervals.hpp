#pragma once

#include <functional>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"

namespace oas {

struct Interval {
  double lower = 0.0;
  double upper = 0.0;
};

/// An interval of level 1-p for a quantity between `least` and `most` (may be ∞) whose posterior
/// has the quantiles q: the shortest of [q(p/2), q(1-p/2)], [least, q(1-p)] and [q(p), most]. Draws
/// never lie on a bound, the truth may: so it can be inside.
[[nodiscard]] Interval shortest_interval(const std::function<double(double level)>& quantile,
                                         double confidence, double least, double most);

/// Whether the data say less about a share than one visit would, when its posterior has this mean
/// and variance, and the prior of its row was worth `prior` visits: a share of mean m and variance
/// v is known as if m (1 - m) / v - 1 transitions had been seen, those of the prior included.
/// Shares known to ± 0.05 are known anyhow.
[[nodiscard]] bool is_poorly_known(double mean, double variance, double prior);

/// Fills lower and upper of `estimate` at its confidence with such intervals between 0 and 1, from
/// a posterior whose quantiles [a][s][s'] are given.
void set_posterior_intervals(const std::function<std::vector<double>(double level)>& quantiles,
                             TransitionEstimate& estimate);

}  // namespace oas
