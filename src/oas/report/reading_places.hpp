#pragma once

#include <span>
#include <string>
#include <vector>

#include "oas/model/density_sensors.hpp"

namespace oas {

/// Where the readings of one component fell within what was predicted: how many at F(x) in each of
/// equally wide bins of [0, 1], F being the distribution of the reading given the rows before. When
/// the model is right these places are even and independent (Rosenblatt 1952), whatever the policy.
struct ReadingPlaces {
  std::string name;
  std::vector<double> counts;  ///< [bin]; a count is spread over F(x-1) … F(x)
  double rows = 0.0;
  double widening = 1.0;  ///< of variances: see label_widening()

  [[nodiscard]] double expected() const { return rows / static_cast<double>(counts.size()); }
};

/// What a bin holds, with probability 1 - level / bars at least, where the model is right.
struct PlaceBand {
  double low = 0.0;
  double high = 0.0;

  [[nodiscard]] bool holds(double count) const { return count >= low && count <= high; }
};

/// The band that all `bars` bins together keep with probability 0.95 (Bonferroni). `rows` > 0.
[[nodiscard]] PlaceBand place_band(const ReadingPlaces& places, std::size_t bars);

/// In words what bins outside of their bands say of one component; empty: none is.
[[nodiscard]] std::string misfit_words(const ReadingPlaces& places, std::size_t bars);

/// Collects the places of readings, component by component. Those that depend on each other are
/// looked at one by one, by their own distributions. Outliers that are allowed for are not taken
/// out.
class PlaceTally {
 public:
  static constexpr std::size_t kBins = 20;

  /// `names` of components; empty: they are numbered. Keeps a reference to the sensors.
  PlaceTally(const DensitySensors& sensors, const std::vector<std::string>& names);

  /// A reading, NaN where a component was not seen, after this action from a state of this law.
  void add(Action action, std::span<const double> state, std::span<const double> reading);
  /// Components that were seen. `labelled_rows`: that the densities were fitted to; 0: they are
  /// exact.
  [[nodiscard]] std::vector<ReadingPlaces> take(double labelled_rows = 0.0);

 private:
  void spread(ReadingPlaces& places, double from, double to) const;

  const DensitySensors& sensors_;
  std::vector<ReadingPlaces> places_;
  std::vector<double> visits_;  // [state]: expected
};

}  // namespace oas
