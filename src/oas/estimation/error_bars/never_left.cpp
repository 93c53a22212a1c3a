#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/estimation/error_bars/detail/never_left.hpp"
#include "oas/estimation/error_bars/detail/penalised_fit.hpp"
#include "oas/estimation/likelihood/detail/root_climb.hpp"

namespace oas::detail {

namespace {

constexpr double kMadeUp = 6.0;       // beyond log(rows)
constexpr double kSurelyLeft = 20.0;  // times that: no climb makes up for it
constexpr double kVisitsInDoubt = 1.0;
constexpr double kSurelyVisited = 20.0;  // times what is enough, of a model of many states
constexpr double kWorkOfAllRows = 2e10;  // rows · S² of all passes
constexpr int kPassesWithout = 30;
constexpr double kFallTolerance = 0.1;  // of a log-likelihood

// Whether there is something to learn about a row.
bool is_open(const TransitionModel& at, std::size_t row) {
  const auto n = static_cast<std::size_t>(at.num_states());
  const auto values = at.values().subspan(row * n, n);
  return std::count_if(values.begin(), values.end(), [](double one) { return one > 0.0; }) > 1;
}

// Visits of a row that led elsewhere: many steps in one place may be a single reading's invention.
double times_left(const TransitionModel& at, const std::vector<double>& visits, std::size_t row) {
  const auto n = static_cast<std::size_t>(at.num_states());
  return visits[row] * (1.0 - at.values()[row * n + row % n]);
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
  const double enough = std::log(rows) + kMadeUp;
  const double most_visits = has_many_coordinates(summit.at)
                                 ? kSurelyVisited * enough
                                 : std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < visits.size(); ++row) {
    const bool in_doubt =
        visits[row] >= kVisitsInDoubt && times_left(summit.at, visits, row) <= most_visits;
    if (in_doubt && is_open(summit.at, row)) order.push_back(row);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return visits[a] < visits[b]; });
  const double states = summit.at.num_states();
  const double most_passes = kWorkOfAllRows / (rows * states * states + 1.0);
  int made = 0;
  for (const std::size_t row : order) {
    if (made > most_passes) break;
    made_up[row] = fall_without(summit, row, enough, made) < enough;
  }
  passes += made;
  return made_up;
}

}  // namespace oas::detail
