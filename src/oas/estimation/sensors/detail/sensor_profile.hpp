#pragma once

#include <Eigen/Cholesky>
#include <optional>

#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/estimation/sensors/detail/sensor_coordinates.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// What is behind UncertainSensors; see there. Derivatives by Z are kept by entries, and matter
/// only along moves that keep the sums of rows; those of labelled rows are exact and never learned.
class SensorProfile {
 public:
  /// `prior`: imaginary labelled rows in each entry, more than 0.
  SensorProfile(LikelihoodFunction likelihood, const Pomdp& model, double prior);

  [[nodiscard]] LikelihoodPass pass(const TransitionModel& transition, const PassOptions& options);

  [[nodiscard]] ObservationModel sensors() const;
  [[nodiscard]] double log_likelihood() const { return log_likelihood_; }
  [[nodiscard]] bool settled() const { return settled_; }
  [[nodiscard]] int passes() const { return passes_; }

 private:
  // Some sensors, the pass there, and Newton's step from there once look_ahead() was called.
  struct Point {
    Vector sensors;
    LikelihoodPass pass;
    double objective = 0.0;
    Vector emitted;  // expected numbers of rows of the log, by entries
    Vector slopes;   // of their log-likelihood, by entries
    SensorCoordinates free;
    Vector gradient;                 // of the objective, by coordinates
    Eigen::LLT<Matrix> information;  // of the objective
    Vector step;                     // Newton's, by entries
    double square = 0.0;             // gradient · step: twice what is to be won
  };

  [[nodiscard]] Point visit(const TransitionModel& transition, const Vector& sensors,
                            const PassOptions& options);
  [[nodiscard]] int useful_batches(int wanted, const TransitionModel& transition) const;
  void look_ahead(Point& point) const;
  [[nodiscard]] Matrix whole_information(const Point& point, double caution) const;
  [[nodiscard]] Vector first_guess(const TransitionModel& transition) const;
  [[nodiscard]] Vector moved(const Point& from, const Vector& step) const;
  [[nodiscard]] bool is_settled(const Point& point, const PassOptions& options) const;
  [[nodiscard]] Point improve(const TransitionModel& transition, const PassOptions& options,
                              Point from);
  void remember(const Point& from, const Point& to);
  [[nodiscard]] Point climb(const TransitionModel& transition, const PassOptions& options);

  // Learning the information (sensor_slopes.cpp).
  struct Batches {
    Matrix sensors;     // [batch][entry], less the mean
    Matrix transition;  // [batch][a s s'], less the mean
  };
  [[nodiscard]] Batches batches_of(const Point& point) const;
  void learn_from_batches(const Point& point);
  void learn_by_differences(const TransitionModel& transition, const Point& point);
  void purge_batches(const Point& point, LikelihoodPass& pass) const;

  LikelihoodFunction likelihood_;
  SensorRows rows_;
  Vector labelled_;       // with the prior
  double best_labelled_;  // Σ n log Z at its largest
  Vector start_;
  Matrix information_;    // of the log's rows by Z, centred; empty: nothing known yet
  Matrix cross_;          // the same by Z and T, [entry][a s s']; empty: not known
  double caution_ = 0.0;  // Levenberg-Marquardt
  double doubt_ = 1.0;    // relative error of a Newton step, as it was last seen
  int wasted_ = 0;        // passes that a better information would have saved
  bool stalled_ = false;  // no better than rounding
  std::optional<Point> last_;
  std::vector<double> last_transition_;
  double log_likelihood_ = 0.0;
  bool settled_ = false;
  int passes_ = 0;
  double steps_ = 0.0;  // transitions of the log; 0: not known yet
};

}  // namespace oas::detail
