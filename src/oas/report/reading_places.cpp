#include "oas/report/reading_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "oas/estimation/diagnosis/label_error.hpp"

namespace oas {

namespace {

constexpr double kBandLevel = 0.05;
constexpr double kClear = 3.0;  // standard deviations

// How far the mean place lies from the middle, and how many lie in the outermost bins, in standard
// deviations of even places.
double shift_score(const ReadingPlaces& places) {
  const auto bins = static_cast<double>(places.counts.size());
  double sum = 0.0;
  for (std::size_t bin = 0; bin < places.counts.size(); ++bin) {
    sum += places.counts[bin] * ((static_cast<double>(bin) + 0.5) / bins - 0.5);
  }
  return sum * std::sqrt(12.0 / (places.rows * places.widening));
}

double ends_score(const ReadingPlaces& places) {
  const double share = 2.0 / static_cast<double>(places.counts.size());
  const double seen = places.counts.front() + places.counts.back();
  return (seen - share * places.rows) /
         std::sqrt(places.widening * places.rows * share * (1.0 - share));
}

}  // namespace

PlaceBand place_band(const ReadingPlaces& places, std::size_t bars) {
  const boost::math::binomial law(places.rows, 1.0 / static_cast<double>(places.counts.size()));
  const double tail = 0.5 * kBandLevel / static_cast<double>(bars);
  const double wider = std::sqrt(places.widening);
  const auto widened = [&](double count) {
    return std::max(0.0, places.expected() + wider * (count - places.expected()));
  };
  return {widened(boost::math::quantile(law, tail)),
          widened(boost::math::quantile(boost::math::complement(law, tail)))};
}

std::string misfit_words(const ReadingPlaces& places, std::size_t bars) {
  const PlaceBand band = place_band(places, bars);
  const auto out = std::count_if(places.counts.begin(), places.counts.end(),
                                 [&](double count) { return !band.holds(count); });
  if (out == 0) return {};
  const double shift = shift_score(places);
  const double ends = ends_score(places);
  std::string how = "are spread unevenly over what was predicted";
  if (std::abs(shift) > std::max(std::abs(ends), kClear)) {
    how = shift < 0.0 ? "are lower than predicted" : "are higher than predicted";
  } else if (ends > kClear) {
    how = "lie at the ends of what was predicted too often: they vary more than the model says";
  } else if (ends < -kClear) {
    how = "lie at the ends of what was predicted too rarely: they vary less than the model says";
  }
  return fmt::format("Values of {} {} (outside of the band: {} of {} bars).", places.name, how, out,
                     places.counts.size());
}

PlaceTally::PlaceTally(const DensitySensors& sensors, const std::vector<std::string>& names)
    : sensors_(sensors), visits_(static_cast<std::size_t>(sensors.num_states()), 0.0) {
  const auto components = static_cast<std::size_t>(sensors.dimension());
  for (std::size_t i = 0; i < components; ++i) {
    ReadingPlaces one;
    one.name = names.size() == components ? names[i]
               : components == 1          ? "the reading"
                                          : fmt::format("reading {}", i + 1);
    one.counts.assign(kBins, 0.0);
    places_.push_back(std::move(one));
  }
}

void PlaceTally::add(Action action, std::span<const double> state,
                     std::span<const double> reading) {
  for (std::size_t s = 0; s < visits_.size(); ++s) visits_[s] += state[s];
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const double x = reading[i];
    if (std::isnan(x)) continue;
    const bool counts = sensors_.discrete(static_cast<int>(i));
    double from = 0.0;
    double to = 0.0;
    for (State s{0}; s < sensors_.num_states(); ++s) {
      const Density& density = sensors_(action, s).marginals()[i];
      const double weight = state[static_cast<std::size_t>(s)];
      to += weight * density.cdf(x);
      from += weight * density.cdf(counts ? x - 1.0 : x);
    }
    spread(places_[i], from, to);
  }
}

// A reading at one place, or evenly over several bins.
void PlaceTally::spread(ReadingPlaces& places, double from, double to) const {
  constexpr auto kWidth = static_cast<double>(kBins);
  const double low = std::clamp(from, 0.0, 1.0) * kWidth;
  const double high = std::clamp(to, 0.0, 1.0) * kWidth;
  places.rows += 1.0;
  const auto first = std::min(static_cast<std::size_t>(low), kBins - 1);
  if (!(high > low)) {
    places.counts[first] += 1.0;
    return;
  }
  for (std::size_t bin = first; bin < kBins && static_cast<double>(bin) < high; ++bin) {
    const auto left = static_cast<double>(bin);
    const double inside = std::min(high, left + 1.0) - std::max(low, left);
    places.counts[bin] += inside / (high - low);
  }
}

std::vector<ReadingPlaces> PlaceTally::take(double labelled_rows) {
  std::erase_if(places_, [](const ReadingPlaces& one) { return one.rows == 0.0; });
  for (ReadingPlaces& one : places_) {
    one.widening = label_widening(one.rows, labelled_rows, visits_);
  }
  return std::move(places_);
}

}  // namespace oas
