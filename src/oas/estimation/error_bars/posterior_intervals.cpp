#include "oas/estimation/error_bars/posterior_intervals.hpp"

#include <algorithm>
#include <map>

namespace oas {

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
