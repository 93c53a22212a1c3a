#include "oas/study/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

struct Moments {
  double mean = 0.0;
  double standard_error = 0.0;  // of the mean; NaN with one value
};

Moments moments(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Moments result;
  for (const double value : values) result.mean += value;
  result.mean /= n;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.standard_error = std::sqrt(squares / (n - 1.0) / n);
  return result;
}

// Linear interpolation between order statistics, of sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = at - static_cast<double>(below);
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

void check_sample(std::span<const double> values, double level) {
  OAS_REQUIRE(!values.empty(), "an interval needs at least one value");
  OAS_REQUIRE(level > 0.0 && level < 1.0, "level is {}; it must lie in (0, 1)", level);
}

}  // namespace

MeanInterval student_interval(std::span<const double> values, double level) {
  check_sample(values, level);
  const Moments found = moments(values);
  MeanInterval result{found.mean, std::numeric_limits<double>::quiet_NaN(),
                      std::numeric_limits<double>::quiet_NaN(), static_cast<int>(values.size())};
  if (values.size() < 2) return result;
  const boost::math::students_t student(static_cast<double>(values.size() - 1));
  const double half = boost::math::quantile(student, 0.5 + 0.5 * level) * found.standard_error;
  result.lower = found.mean - half;
  result.upper = found.mean + half;
  return result;
}

MeanInterval bootstrap_interval(std::span<const double> values, double level, int resamples,
                                Rng& rng) {
  check_sample(values, level);
  OAS_REQUIRE(resamples >= 100, "resamples is {}; at least 100", resamples);
  const Moments found = moments(values);
  if (values.size() < std::size_t{kFewestForBootstrap} || !(found.standard_error > 0.0)) {
    return student_interval(values, level);
  }
  std::vector<double> resample(values.size());
  std::vector<double> ratios;
  ratios.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    for (double& value : resample) {
      value = values[rng.below(static_cast<std::uint32_t>(values.size()))];
    }
    const Moments again = moments(resample);
    // A resample of one value over and over says nothing about spread.
    if (!(again.standard_error > 0.0)) continue;
    ratios.push_back((again.mean - found.mean) / again.standard_error);
  }
  if (ratios.empty()) return student_interval(values, level);
  std::sort(ratios.begin(), ratios.end());
  const double tail = 0.5 * (1.0 - level);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {found.mean,
          std::max(*least, found.mean - quantile(ratios, 1.0 - tail) * found.standard_error),
          std::min(*most, found.mean - quantile(ratios, tail) * found.standard_error),
          static_cast<int>(values.size())};
}

std::optional<double> log_log_slope(std::span<const double> x, std::span<const double> y) {
  OAS_REQUIRE(x.size() == y.size(), "{} values of x and {} of y", x.size(), y.size());
  std::vector<double> log_x;
  std::vector<double> log_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0.0) || !(y[i] > 0.0)) continue;
    log_x.push_back(std::log(x[i]));
    log_y.push_back(std::log(y[i]));
  }
  if (log_x.size() < 2) return std::nullopt;
  const double mean_x = moments(log_x).mean;
  const double mean_y = moments(log_y).mean;
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < log_x.size(); ++i) {
    products += (log_x[i] - mean_x) * (log_y[i] - mean_y);
    squares += (log_x[i] - mean_x) * (log_x[i] - mean_x);
  }
  if (!(squares > 0.0)) return std::nullopt;
  return products / squares;
}

ShareInterval clopper_pearson(double hits, double trials, double level) {
  using Binomial = boost::math::binomial_distribution<double>;
  OAS_REQUIRE(hits >= 0.0 && hits <= trials, "{} hits of {} trials", hits, trials);
  OAS_REQUIRE(level > 0.0 && level < 1.0, "level is {}; it must lie in (0, 1)", level);
  if (trials == 0.0) return {};
  const double tail = 0.5 * (1.0 - level);
  return {hits > 0.0 ? Binomial::find_lower_bound_on_p(trials, hits, tail) : 0.0,
          hits < trials ? Binomial::find_upper_bound_on_p(trials, hits, tail) : 1.0};
}

double binomial_tail(double hits, double trials, double share) {
  OAS_REQUIRE(hits >= 0.0 && hits <= trials, "{} hits of {} trials", hits, trials);
  if (hits == trials) return 1.0;
  return boost::math::cdf(boost::math::binomial_distribution<double>(trials, share), hits);
}

double median(std::span<const double> values) {
  OAS_REQUIRE(!values.empty(), "the median of no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5);
}

}  // namespace oas
