#include "oas/planning/uncertain/posterior_value.hpp"

#include <algorithm>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/quantile.hpp"

namespace oas {

DrawnRange range_of(std::vector<double> values, double confidence) {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
  OAS_REQUIRE(!values.empty(), "no draws");
  std::sort(values.begin(), values.end());
  const double out = 1.0 - confidence;
  return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          limit_of_draws(values, 0.5 * out), limit_of_draws(values, 1.0 - 0.5 * out)};
}

double mean_of_least(std::vector<double> values, double share) {
  OAS_REQUIRE(share > 0.0 && share <= 1.0, "the share is {}; it must lie in (0, 1]", share);
  OAS_REQUIRE(!values.empty(), "no draws");
  std::sort(values.begin(), values.end());
  const double count = share * static_cast<double>(values.size());
  double left = count;
  double sum = 0.0;
  for (const double value : values) {
    const double weight = std::min(left, 1.0);
    sum += weight * value;
    left -= weight;
    if (!(left > 0.0)) break;
  }
  return sum / count;
}

std::vector<double> PosteriorValue::frequencies_of(int state, int num_states) const {
  std::vector<double> values;
  for (auto i = static_cast<std::size_t>(state); i < frequencies.size();
       i += static_cast<std::size_t>(num_states)) {
    values.push_back(frequencies[i]);
  }
  return values;
}

namespace {

// What evaluate(draw), a ControllerValue, says of each draw.
template <class Evaluate>
PosteriorValue values_over(std::span<const Pomdp> draws, Parallelism parallelism,
                           Evaluate evaluate) {
  PosteriorValue result;
  if (draws.empty()) return result;
  const auto states = static_cast<std::size_t>(draws.front().num_states());
  result.gains.resize(draws.size());
  result.frequencies.resize(draws.size() * states);
  parallel_for(draws.size(), parallelism, [&](std::size_t i) {
    const ControllerValue value = evaluate(draws[i]);
    result.gains[i] = value.gain;
    std::copy(value.frequencies.begin(), value.frequencies.end(),
              result.frequencies.begin() + static_cast<std::ptrdiff_t>(i * states));
  });
  return result;
}

}  // namespace

PosteriorValue evaluate_over(std::span<const Pomdp> draws, const Controller& controller,
                             Parallelism parallelism) {
  return values_over(draws, parallelism,
                     [&](const Pomdp& draw) { return evaluate_controller(draw, controller); });
}

PosteriorValue discounted_over(std::span<const Pomdp> draws, const Controller& controller,
                               double discount, Parallelism parallelism) {
  return values_over(draws, parallelism, [&](const Pomdp& draw) {
    return evaluate_discounted(draw, controller, discount);
  });
}

}  // namespace oas
