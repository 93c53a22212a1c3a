#include "oas/estimation/error_bars/density_errors.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"

namespace oas {

namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kKeptDraws = 200;  // of T that are kept

// What one estimate says about an entry: normal on either side of the value.
struct EntryLaw {
  double value;
  double below;  // standard deviations
  double above;
  double variance;
  bool reaches_zero;  // its interval does
  bool reaches_one;

  // P(entry <= x); the side of a bound has no width.
  [[nodiscard]] double cdf(double x) const {
    const double sd = x < value ? below : above;
    if (!(sd > 0.0)) return x < value ? 0.0 : 1.0;
    return 0.5 * std::erfc(-(x - value) / (sd * std::sqrt(2.0)));
  }
};

double mixture_cdf(const std::vector<EntryLaw>& laws, double x) {
  double sum = 0.0;
  for (const EntryLaw& law : laws) sum += law.cdf(x);
  return sum / static_cast<double>(laws.size());
}

// The least x of [0, 1] below which the mixture has a share `level`.
double mixture_limit(const std::vector<EntryLaw>& laws, double level) {
  if (mixture_cdf(laws, 0.0) >= level) return 0.0;
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::midpoint(low, high);
    (mixture_cdf(laws, middle) >= level ? high : low) = middle;
  }
  return high;
}

bool is_determined(const TransitionEstimate& estimate, std::size_t entry) {
  return !estimate.standard_error.empty() && std::isfinite(estimate.standard_error[entry]);
}

// The laws of the estimates that determine the entry.
std::vector<EntryLaw> laws_of(const std::vector<TransitionEstimate>& drawn, std::size_t entry,
                              double critical) {
  std::vector<EntryLaw> laws;
  for (const TransitionEstimate& one : drawn) {
    if (!is_determined(one, entry)) continue;
    const double value = one.transition.values()[entry];
    const double error = one.standard_error[entry];
    laws.push_back({value, std::max(0.0, value - one.lower[entry]) / critical,
                    std::max(0.0, one.upper[entry] - value) / critical, error * error,
                    one.lower[entry] <= 0.0, one.upper[entry] >= 1.0});
  }
  return laws;
}

// Moves the values apart by what K draws show too little of their spread, and returns (1 + 1/K)
// times their variance.
double spread_apart(std::vector<EntryLaw>& laws) {
  const auto k = static_cast<double>(laws.size());
  double mean = 0.0;
  for (const EntryLaw& law : laws) mean += law.value / k;
  double squares = 0.0;
  for (const EntryLaw& law : laws) squares += (law.value - mean) * (law.value - mean);
  const double factor = std::sqrt((k + 1.0) / (k - 1.0));
  for (EntryLaw& law : laws) {
    law.value = std::clamp(mean + factor * (law.value - mean), 0.0, 1.0);
  }
  return (1.0 + 1.0 / k) * squares / (k - 1.0);
}

void take_out(std::size_t row, std::size_t states, std::size_t draws,
              TransitionEstimate& estimate) {
  for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
    estimate.standard_error[e] = kNotKnown;
    estimate.lower[e] = 0.0;
    estimate.upper[e] = 1.0;
  }
  estimate.flag(Action{static_cast<int>(row / states)}, State{static_cast<int>(row % states)},
                fmt::format("it is not determined under most of {} densities that the labelled "
                            "rows allow",
                            draws));
  estimate.status = EstimateStatus::flagged;
}

void set_entry(std::vector<EntryLaw> laws, std::size_t entry, TransitionEstimate& estimate) {
  double within = 0.0;
  for (const EntryLaw& law : laws) within += law.variance / static_cast<double>(laws.size());
  const double between = spread_apart(laws);
  const double value = estimate.transition.values()[entry];
  const double tail = 0.5 * (1.0 - estimate.confidence);
  estimate.standard_error[entry] = std::sqrt(within + between);
  // A normal law has little at a bound, where the truth may well be: more estimates that reach it
  // than are left out on that side bring it in.
  const double many = tail * static_cast<double>(laws.size());
  const auto zeros =
      std::count_if(laws.begin(), laws.end(), [](auto& l) { return l.reaches_zero; });
  const auto ones = std::count_if(laws.begin(), laws.end(), [](auto& l) { return l.reaches_one; });
  const bool zero = static_cast<double>(zeros) > many;
  const bool one = static_cast<double>(ones) > many;
  estimate.lower[entry] = zero ? 0.0 : std::min(value, mixture_limit(laws, tail));
  estimate.upper[entry] = one ? 1.0 : std::max(value, mixture_limit(laws, 1.0 - tail));
}

// Some draws of each estimate, if all have some.
std::vector<double> mixed_draws(const std::vector<TransitionEstimate>& drawn) {
  const std::size_t entries = drawn.front().transition.values().size();
  const std::size_t each = (kKeptDraws + drawn.size() - 1) / drawn.size();
  std::vector<double> result;
  for (const TransitionEstimate& one : drawn) {
    const std::size_t count = one.draws.size() / entries;
    if (count == 0) return {};
    for (std::size_t i = 0; i < std::min(each, count); ++i) {
      const double* first = one.draws.data() + i * count / std::min(each, count) * entries;
      result.insert(result.end(), first, first + entries);
    }
  }
  return result;
}

}  // namespace

void add_density_errors(const std::vector<TransitionEstimate>& drawn,
                        TransitionEstimate& estimate) {
  OAS_REQUIRE(drawn.size() >= 2, "{} estimates under random densities; two are needed",
              drawn.size());
  const std::size_t entries = estimate.transition.values().size();
  for (const TransitionEstimate& one : drawn) {
    OAS_REQUIRE(one.transition.values().size() == entries, "estimates of different sizes");
  }
  if (estimate.standard_error.empty()) return;
  const double critical =
      boost::math::quantile(boost::math::normal(), 0.5 + 0.5 * estimate.confidence);
  const auto states = static_cast<std::size_t>(estimate.transition.num_states());
  for (std::size_t row = 0; row < entries / states; ++row) {
    if (!is_determined(estimate, row * states)) continue;
    std::size_t known = 0;
    for (const TransitionEstimate& one : drawn) known += is_determined(one, row * states);
    if (2 * known <= drawn.size() || known < 2) {
      take_out(row, states, drawn.size(), estimate);
      continue;
    }
    for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
      if (estimate.lower[e] == estimate.upper[e]) continue;  // known beforehand
      set_entry(laws_of(drawn, e, critical), e, estimate);
    }
  }
  if (!estimate.row_region.factor.empty()) {
    add_bonferroni_regions(estimate.transition.values(), estimate);
  }
  if (!estimate.draws.empty()) estimate.draws = mixed_draws(drawn);
  for (const TransitionEstimate& one : drawn) estimate.passes += one.passes;
}

}  // namespace oas
