#include "oas/live/detail/live_plan.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/checks.hpp"

namespace oas::detail {

namespace {

void put_values(ByteWriter& out, const TransitionModel& transition) {
  out.put_all(std::span<const double>(transition.values()));
}

}  // namespace

double LivePlan::distance(const TransitionModel& other) const {
  const auto n = static_cast<std::size_t>(transition.num_states());
  const std::span<const double> mine = transition.values();
  const std::span<const double> theirs = other.values();
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const bool weighted = all > 0.0 && std::isfinite(all);
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t row = 0; row < mine.size(); row += n) {
    double apart = 0.0;
    for (std::size_t i = row; i < row + n; ++i) apart += 0.5 * std::abs(mine[i] - theirs[i]);
    const auto first = counts.begin() + static_cast<std::ptrdiff_t>(weighted ? row : 0);
    const double weight =
        weighted ? std::accumulate(first, first + static_cast<std::ptrdiff_t>(n), 0.0) : 1.0;
    sum += weight * apart;
    weights += weight;
  }
  return sum / weights;
}

std::string LivePlan::to_bytes() const {
  ByteWriter out;
  out.put(number);
  out.put(rows);
  put_values(out, transition);
  out.put_all(bias);
  put_values(out, estimate);
  out.put_all(standard_error);
  out.put_all(counts);
  out.put(gain);
  out.put(optimistic_gain);
  out.put(radius);
  out.put(fit_p_value);
  out.put(static_cast<std::int64_t>(flagged_rows));
  out.put_text(status);
  out.put_text(failure);
  return out.take();
}

LivePlan LivePlan::parse(std::string_view bytes, int num_states, int num_actions,
                         std::size_t grid_points) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto entries = static_cast<std::size_t>(num_actions) *
                       static_cast<std::size_t>(num_states) * static_cast<std::size_t>(num_states);
  ByteReader in(bytes);
  LivePlan plan;
  plan.number = in.get_integer(1, kMost);
  plan.rows = in.get_integer(0, kMost);
  plan.transition = {num_states, num_actions, in.get_all<double>(entries), "plan"};
  plan.bias = in.get_all<double>(grid_points);
  check_finite(plan.bias, "bias");
  plan.estimate = {num_states, num_actions, in.get_all<double>(entries), "estimate"};
  plan.standard_error = in.get_all<double>();
  plan.counts = in.get_all<double>();
  plan.gain = in.get<double>();
  plan.optimistic_gain = in.get<double>();
  plan.radius = in.get<double>();
  plan.fit_p_value = in.get<double>();
  plan.flagged_rows = static_cast<int>(in.get_integer(0, static_cast<std::int64_t>(entries)));
  plan.status = in.get_text();
  plan.failure = in.get_text();
  OAS_REQUIRE((plan.standard_error.empty() || plan.standard_error.size() == entries) &&
                  plan.counts.size() == entries && in.at_end(),
              "saved bytes are not a plan of {} states and {} actions", num_states, num_actions);
  return plan;
}

}  // namespace oas::detail
