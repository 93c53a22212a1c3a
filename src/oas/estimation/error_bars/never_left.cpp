#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/estimation/error_bars/detail/never_left.hpp"

namespace oas::detail {

namespace {

constexpr double kMadeUp = 6.0;       // beyond log(rows)
constexpr double kSurelyLeft = 20.0;  // times that: no climb makes up for it
constexpr double kVisitsInDoubt = 1.0;
constexpr double kWorkOfAllRows = 2e10;  // rows · S² of all passes
constexpr int kPassesWithout = 30;
constexpr double kFallTolerance = 0.1;  // of a log-likelihood
constexpr double kLeavingShare = 0.02;  // entries at 0 must be able to leave it

// A share of each row evenly over its entries that are not known to be 0.
TransitionModel loosened(const TransitionModel& at) {
  const auto n = static_cast<std::size_t>(at.num_states());
  std::vector<double> values(at.values().begin(), at.values().end());
  for (std::size_t first = 0; first < values.size(); first += n) {
    double open = 0.0;
    for (std::size_t i = first; i < first + n; ++i) open += values[i] > 0.0 ? 1.0 : 0.0;
    for (std::size_t i = first; i < first + n; ++i) {
      if (values[i] > 0.0) values[i] += kLeavingShare * (1.0 / open - values[i]);
    }
  }
  return {at.num_states(), at.num_actions(), std::move(values)};
}

// Whether there is something to learn about a row.
bool is_open(const TransitionModel& at, std::size_t row) {
  const auto n = static_cast<std::size_t>(at.num_states());
  const auto values = at.values().subspan(row * n, n);
  return std::count_if(values.begin(), values.end(), [](double one) { return one > 0.0; }) > 1;
}

}  // namespace

double fall_without(const Summit& summit, std::size_t row, double enough, int& passes) {
  const auto without = [&](const TransitionModel& at, const PassOptions& options) {
    PassOptions with = options;
    with.never_left = {row};
    ++passes;
    return summit.objective(at, with);
  };
  const double here = without(summit.at, {}).log_likelihood;
  const double fall = summit.value - here;
  if (fall < enough || fall > kSurelyLeft * enough) return std::max(fall, 0.0);
  LikelihoodOptions options;
  options.max_passes = kPassesWithout;
  options.tolerance = kFallTolerance;
  const LikelihoodEstimate climbed = maximize_likelihood(without, loosened(summit.at), options);
  return climbed.status == LikelihoodStatus::impossible
             ? std::numeric_limits<double>::infinity()
             : std::max(summit.value - std::max(climbed.objective, here), 0.0);
}

std::vector<char> made_up_rows(const Summit& summit, const std::vector<double>& visits, double rows,
                               int& passes) {
  std::vector<char> made_up(visits.size(), 0);
  std::vector<std::size_t> order;
  for (std::size_t row = 0; row < visits.size(); ++row) {
    if (visits[row] >= kVisitsInDoubt && is_open(summit.at, row)) order.push_back(row);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return visits[a] < visits[b]; });
  const double states = summit.at.num_states();
  const double most_passes = kWorkOfAllRows / (rows * states * states + 1.0);
  const double enough = std::log(rows) + kMadeUp;
  int made = 0;
  for (const std::size_t row : order) {
    if (made > most_passes) break;
    made_up[row] = fall_without(summit, row, enough, made) < enough;
  }
  passes += made;
  return made_up;
}

}  // namespace oas::detail
