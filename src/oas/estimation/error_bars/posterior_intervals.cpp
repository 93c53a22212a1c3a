#include "oas/estimation/error_bars/posterior_intervals.hpp"

#include <algorithm>
#include <map>

namespace oas {

namespace {

constexpr double kOneVisit = 1.0;
constexpr double kPoorDeviation = 0.05;

}  // namespace

Interval shortest_interval(const std::function<double(double level)>& quantile, double confidence,
                           double least, double most) {
  const double out = 1.0 - confidence;
  const Interval both = {quantile(0.5 * out), quantile(1.0 - 0.5 * out)};
  const Interval below = {least, quantile(1.0 - out)};
  const Interval above = {quantile(out), most};
  const auto length = [](const Interval& interval) { return interval.upper - interval.lower; };
  if (length(below) <= std::min(length(both), length(above))) return below;
  return length(above) <= length(both) ? above : both;
}

bool is_poorly_known(double mean, double variance, double prior) {
  return variance > kPoorDeviation * kPoorDeviation &&
         mean * (1.0 - mean) / variance - 1.0 < prior + kOneVisit;
}

void set_posterior_intervals(const std::function<std::vector<double>(double level)>& quantiles,
                             TransitionEstimate& estimate) {
  std::map<double, std::vector<double>> known;
  std::size_t entry = 0;
  const auto quantile = [&](double level) {
    const auto found = known.find(level);
    return (found != known.end() ? found->second
                                 : known.emplace(level, quantiles(level)).first->second)[entry];
  };
  const std::size_t entries = quantiles(0.5).size();
  estimate.lower.resize(entries);
  estimate.upper.resize(entries);
  for (; entry < entries; ++entry) {
    const Interval interval = shortest_interval(quantile, estimate.confidence, 0.0, 1.0);
    estimate.lower[entry] = interval.lower;
    estimate.upper[entry] = interval.upper;
  }
}

}  // namespace oas
