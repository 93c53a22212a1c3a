#pragma once

#include <memory>

#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

namespace detail {
class SensorProfile;
}

/// Sensors that are known from labelled rows only: the likelihood of a log as a function of T
/// alone, with the sensors at their best,
///
///     L(T) = max over Z of  log P(rows | T, Z) + Σ (n(a,s,o) + ½) log Z_a(o|s),
///
/// n the model's observation_counts. Its score is the score at that Z (envelope theorem), its
/// information J_TT - J_TZ (J_ZZ)⁻¹ J_ZT, so whatever takes a LikelihoodFunction, climb, error
/// bars, intervals, then allows for the sensors' uncertainty. Where n is one table for all actions,
/// so is Z. The half row in each entry (Jeffreys' prior) keeps Z away from 0, where it would look
/// as if it were known exactly; against all rows, labelled or not, it weighs little. Up to a
/// constant, Σ n log Z is given relative to its largest value.
///
/// Z is sought by Newton's method from where the last call left it, moved along dZ/dT; information
/// from batches, from the changes met (BFGS), and by differences once these have cost as many
/// passes. What is left of the slope by Z is allowed for to first order. Batches are those of the
/// score less its part along the sensors, with a few for the labelled rows, so that their spread is
/// the information too. About 1 to 3 passes over the rows in each call, more in the first.
///
/// Calls must come one after the other; the same calls give the same bits.
class UncertainSensors {
 public:
  static constexpr int kMostEntries = 600;  ///< of Z: rows times observations

  /// `likelihood` must look at PassOptions::sensors and emissions, as rows of finite observations
  /// do, and must not rule out what the model's sensors rule out: see opened(). Throws
  /// InvalidArgument when the model has no observation_counts or too many entries.
  UncertainSensors(LikelihoodFunction likelihood, const Pomdp& model);
  ~UncertainSensors();
  UncertainSensors(const UncertainSensors&) = delete;
  UncertainSensors& operator=(const UncertainSensors&) = delete;

  /// Whether `model` has counts, and few enough.
  [[nodiscard]] static bool possible(const Pomdp& model);
  /// The model with sensors that rule nothing out, (n Z + ½) / (n + O/2): where Z starts. Rows are
  /// to be read with it.
  [[nodiscard]] static Pomdp opened(const Pomdp& model);

  /// L and its derivatives at T. Options as for any pass, but neither sensors nor emissions nor
  /// weights by age.
  [[nodiscard]] LikelihoodPass pass(const TransitionModel& transition,
                                    const PassOptions& options = {});
  /// The same as a function; this object must outlive it.
  [[nodiscard]] LikelihoodFunction function();

  /// Of the last pass: the sensors, log P(rows | T, Z) alone, and whether the maximum was found.
  [[nodiscard]] ObservationModel sensors() const;
  [[nodiscard]] double log_likelihood() const;
  [[nodiscard]] bool settled() const;
  /// Passes over the rows so far.
  [[nodiscard]] int passes() const;

 private:
  std::unique_ptr<detail::SensorProfile> profile_;
};

/// estimate_likelihood() with uncertain sensors: the joint maximum over T and Z, error bars of T
/// that include what is not known of Z. Rows must have been read with opened(); α is that of the
/// sensors found. A state without any labelled row is warned of. The log fits as well when two
/// states change names; where the labelled rows speak against that by less than a factor of 150, no
/// row of T is determined.
[[nodiscard]] TransitionEstimate estimate_with_sensors(const LikelihoodRows& rows,
                                                       const std::vector<TransitionModel>& starts,
                                                       const Pomdp& model,
                                                       const LikelihoodEstimatorOptions& options);

}  // namespace oas
