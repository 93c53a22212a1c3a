#include "oas/model/reading_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kOuter = 0.001;  // probability beyond each end of what is usual

}  // namespace

ReadingLikelihood::ReadingLikelihood(DensitySensors sensors, double outlier_share)
    : sensors_(std::move(sensors)), share_(outlier_share) {
  OAS_REQUIRE(share_ >= 0.0 && share_ < 1.0, "the share of outliers is {}; it must be in [0, 1)",
              share_);
  if (share_ == 0.0) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sensors_.dimension()); ++i) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (Action a{0}; a < sensors_.num_actions(); ++a) {
      for (State s{0}; s < sensors_.num_states(); ++s) {
        const Density& density = sensors_(a, s).marginals()[i];
        low = std::min(low, density.quantile(kOuter));
        high = std::max(high, density.quantile(1.0 - kOuter));
      }
    }
    const double centre = std::midpoint(low, high);
    // Counts may have one usual value only.
    broad_.push_back({centre, high > low ? 0.5 * (high - low) : 0.5});
  }
}

double ReadingLikelihood::Broad::operator()(double x) const {
  const double z = (x - centre) / scale;
  return 1.0 / (std::numbers::pi * scale * (1.0 + z * z));
}

double ReadingLikelihood::Broad::sample(Rng& rng) const {
  return centre + scale * std::tan(std::numbers::pi * (rng.uniform() - 0.5));
}

double ReadingLikelihood::contaminated(const VectorDensity& density,
                                       std::span<const double> x) const {
  double product = 1.0;
  double broad = 1.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) continue;
    const double outlier = broad_[i](x[i]);
    broad *= outlier;
    if (!density.dependent()) {
      product *= (1.0 - share_) * density.marginals()[i](x[i]) + share_ * outlier;
    }
  }
  return density.dependent() ? (1.0 - share_) * density(x) + share_ * broad : product;
}

void ReadingLikelihood::operator()(Action action, std::span<const double> reading,
                                   std::span<double> out) const {
  if (share_ == 0.0) return sensors_.likelihood(action, reading, out);
  for (State s{0}; s < sensors_.num_states(); ++s) {
    out[static_cast<std::size_t>(s)] = contaminated(sensors_(action, s), reading);
  }
}

void ReadingLikelihood::sample(Action action, State state, std::span<double> reading,
                               Rng& rng) const {
  const VectorDensity& density = sensors_(action, state);
  density.sample(reading, rng);
  if (share_ == 0.0) return;
  bool outlier = false;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (i == 0 || !density.dependent()) outlier = rng.uniform() < share_;
    if (!outlier) continue;
    const double drawn = broad_[i].sample(rng);
    reading[i] = density.marginals()[i].discrete() ? std::round(drawn) : drawn;
  }
}

void ReadingLikelihood::trust(Action action, State state, std::span<const double> reading,
                              std::span<double> out) const {
  for (std::size_t i = 0; i < reading.size(); ++i) out[i] = std::isnan(reading[i]) ? 0.0 : 1.0;
  if (share_ == 0.0) return;
  const VectorDensity& density = sensors_(action, state);
  const auto no_outlier = [&](double usual, double broad) {
    const double good = (1.0 - share_) * usual;
    return good > 0.0 ? good / (good + share_ * broad) : 0.0;
  };
  double broad = 1.0;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (std::isnan(reading[i])) continue;
    const double of_component = broad_[i](reading[i]);
    broad *= of_component;
    out[i] = no_outlier(density.marginals()[i](reading[i]), of_component);
  }
  if (!density.dependent()) return;
  const double together = no_outlier(density(reading), broad);
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (!std::isnan(reading[i])) out[i] = together;
  }
}

bool ReadingLikelihood::leave_out_impossible(Action action, std::span<double> reading) const {
  bool some = false;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (std::isnan(reading[i])) continue;
    double largest = 0.0;
    for (State s{0}; s < sensors_.num_states(); ++s) {
      largest = std::max(largest, sensors_(action, s).marginals()[i](reading[i]));
    }
    if (largest > 0.0 && std::isfinite(largest)) continue;
    reading[i] = std::numeric_limits<double>::quiet_NaN();
    some = true;
  }
  return some;
}

}  // namespace oas
