#pragma once

#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/density_sensors.hpp"

namespace oas {

/// What a reading says about the states, p(reading | s, a), where now and then a sensor may say
/// anything: with `outlier_share` ε > 0 every component that is independent of the others has the
/// density (1-ε) p_i + ε g_i, and components that depend on each other have (1-ε) p + ε Π g_i. The
/// broad g_i is the same for all states and actions, so that an outlier tells nothing about them: a
/// Cauchy density whose middle half holds 99.8 % of component i under every (action, state).
class ReadingLikelihood {
 public:
  /// ε in [0, 1).
  explicit ReadingLikelihood(DensitySensors sensors, double outlier_share = 0.0);

  [[nodiscard]] const DensitySensors& sensors() const { return sensors_; }

  /// For every state; `out` has S entries. Components that are NaN were not seen.
  void operator()(Action action, std::span<const double> reading, std::span<double> out) const;

  /// One draw of a reading in a state, outliers among them. An outlier of a component that counts
  /// is a whole number, to which the broad density is rounded.
  void sample(Action action, State state, std::span<double> reading, Rng& rng) const;

  /// For every component of a reading, P(it is no outlier | reading, state); 0 where it was not
  /// seen (NaN). By this factor a change of the densities p enters the logarithm of the likelihood.
  void trust(Action action, State state, std::span<const double> reading,
             std::span<double> out) const;

  /// Makes components NaN that have density 0 or infinity in every state by themselves, whatever
  /// the share of outliers. Whether there were some.
  [[nodiscard]] bool leave_out_impossible(Action action, std::span<double> reading) const;

 private:
  struct Broad {
    double centre;
    double scale;
    [[nodiscard]] double operator()(double x) const;
    [[nodiscard]] double sample(Rng& rng) const;
  };
  [[nodiscard]] double contaminated(const VectorDensity& density, std::span<const double> x) const;

  DensitySensors sensors_;
  double share_;
  std::vector<Broad> broad_;  // by component
};

}  // namespace oas
