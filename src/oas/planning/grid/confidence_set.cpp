#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"

namespace oas {

ConfidenceSet ConfidenceSet::uniform(Pomdp center, double radius) {
  const auto rows = static_cast<std::size_t>(center.num_actions() * center.num_states());
  return {std::move(center), std::vector<double>(rows, radius)};
}

void ConfidenceSet::validate() const {
  static_cast<void>(center.transition());
  const auto rows = static_cast<std::size_t>(center.num_actions() * center.num_states());
  OAS_REQUIRE(radius.size() == rows, "{} radii for {} actions and {} states", radius.size(),
              center.num_actions(), center.num_states());
  for (std::size_t i = 0; i < rows; ++i) {
    OAS_REQUIRE(radius[i] >= 0.0 && radius[i] <= 1.0,
                "the radius of action {}, state {} is {}; it must lie in [0, 1]",
                i / static_cast<std::size_t>(center.num_states()),
                i % static_cast<std::size_t>(center.num_states()), radius[i]);
  }
}

double ConfidenceSet::max_radius() const { return *std::max_element(radius.begin(), radius.end()); }

bool ConfidenceSet::contains(const TransitionModel& transition, double tolerance) const {
  const auto n = static_cast<std::size_t>(center.num_states());
  const auto a = center.transition().values();
  const auto b = transition.values();
  if (a.size() != b.size()) return false;
  for (std::size_t row = 0; row < radius.size(); ++row) {
    double distance = 0.0;
    for (std::size_t i = row * n; i < (row + 1) * n; ++i) distance += std::abs(a[i] - b[i]);
    if (distance > 2.0 * radius[row] + tolerance) return false;
  }
  return true;
}

TransitionModel ConfidenceSet::sample(Rng& rng) const {
  const auto n = static_cast<std::size_t>(center.num_states());
  std::vector<double> values(center.transition().values().begin(),
                             center.transition().values().end());
  std::vector<double> goal(n);
  for (std::size_t row = 0; row < radius.size(); ++row) {
    const auto now = std::span(values).subspan(row * n, n);
    sample_dirichlet(std::vector<double>(n, 0.3), goal, rng);
    double distance = 0.0;
    for (std::size_t i = 0; i < n; ++i) distance += std::abs(goal[i] - now[i]);
    const double reach = rng.uniform() < 0.5 ? 1.0 : rng.uniform();
    const double share = distance > 0.0 ? std::min(1.0, reach * 2.0 * radius[row] / distance) : 0.0;
    for (std::size_t i = 0; i < n; ++i) now[i] += share * (goal[i] - now[i]);
  }
  return {center.num_states(), center.num_actions(), std::move(values)};
}

std::vector<double> optimistic_row(std::span<const double> row, double radius,
                                   std::span<const double> h) {
  std::vector<double> out(row.begin(), row.end());
  std::vector<std::size_t> order(out.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return h[i] < h[j]; });
  const std::size_t best = order.back();
  double left = std::min(radius, 1.0 - out[best]);
  for (const std::size_t i : order) {
    if (i == best) break;
    const double moved = std::min(out[i], left);
    out[i] -= moved;
    out[best] += moved;
    left -= moved;
  }
  return out;
}

}  // namespace oas
