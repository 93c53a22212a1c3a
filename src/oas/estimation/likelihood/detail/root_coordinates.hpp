#pragma once

#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// Transition models by the square roots r of their entries: every row is a point of a sphere, on
/// which 0 <= T is no bound. Vectors [a][s][s'] tangent to it are measured in units of 1/(2√N), N
/// the expected visits of the row: the information if all states had been seen is then the
/// identity, what is seen has eigenvalues below 1, and a step along the slope is one of
/// expectation-maximisation, to first order.
class RootCoordinates {
 public:
  /// Around `at`; the expected visits [a][s] set the units.
  RootCoordinates(const TransitionModel& at, const std::vector<double>& visits);

  [[nodiscard]] static Vector roots(const TransitionModel& at);
  [[nodiscard]] TransitionModel model(const Vector& roots) const;

  /// The slope at `roots` from derivatives by the entries, [a][s][s'].
  [[nodiscard]] Vector slope(const Vector& roots, const double* derivatives) const;
  /// Takes out of `vector` what is not tangent at `roots`.
  void project(const Vector& roots, Vector& vector) const;
  /// `roots` moved along a tangent vector. No row turns by more than about half a radian, and no
  /// root shrinks by more than a factor of 5.
  [[nodiscard]] Vector moved(const Vector& roots, const Vector& step) const;
  /// What moved() did, as a tangent vector at `from`, to first order.
  [[nodiscard]] Vector between(const Vector& from, const Vector& to) const;
  /// The change of a root along `step`, root mean square.
  [[nodiscard]] double turn(const Vector& step) const;
  /// Changes of the entries of T, to first order.
  [[nodiscard]] Vector entries(const Vector& roots, const Vector& step) const;
  /// [a][s][s']: the information of each entry of T alone, by the spread of a pass's batches.
  [[nodiscard]] Vector spread(const Vector& roots, const LikelihoodPass& pass) const;
  /// The information of each coordinate alone, within [least, 1]: that of the entry, and how hard
  /// the root is pushed to 0.
  [[nodiscard]] Vector diagonal(const Vector& roots, const double* derivatives,
                                const Vector& spread, double least) const;

 private:
  [[nodiscard]] Vector centred(const Vector& roots, const double* derivatives) const;

  int num_states_;
  int num_actions_;
  Vector unit_;  // [a][s]: 2√N
};

}  // namespace oas::detail
