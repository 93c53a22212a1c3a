#pragma once

#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// The belief along the rows of a log together with its derivatives by coordinates of the model:
/// first those of one transition model or of several (`add`), each of which moves the belief in
/// some of the rows, then directions in which the sensors may be otherwise. The derivative of
/// log P(o_t | rows before, a_t) is the prediction score of a row; at the true model it has mean 0
/// given the rows before, whatever the policy. O(d S²) per row for d coordinates, no allocation.
class ScoreFilter {
 public:
  ScoreFilter(int num_states, int num_actions);

  /// Coordinates of one more transition model, which must not change afterwards.
  void add(const TransitionModel& transition, const detail::FreeCoordinates& free);
  /// After all transition models; must be called before the first row if there are any.
  void add_sensor_directions(Eigen::Index count);

  [[nodiscard]] Eigen::Index size() const { return derivatives_.rows(); }

  /// A run starts with this belief, which does not depend on the coordinates.
  void start(std::span<const double> belief);
  /// The state moves under `action`, by transition model `which`.
  void move(int which, Action action);
  /// log-derivatives of P = Σ_s belief(s) likelihood(s) by all coordinates, the sensor directions'
  /// own part left out; returns P, and leaves `out` alone where it is 0.
  double slopes(const Eigen::Ref<const Eigen::RowVectorXd>& likelihood,
                Eigen::Ref<Vector> out) const;
  /// Conditions on a reading with these likelihoods, whose score is `score` (all coordinates, own
  /// part included) and whose derivatives by the sensor directions are `by_sensor`, [direction]
  /// [state]. `probability` > 0 as slopes() gave it.
  void see(const Eigen::RowVectorXd& likelihood, const Matrix& by_sensor, const Vector& score,
           double probability);

  [[nodiscard]] const Eigen::RowVectorXd& belief() const { return belief_; }

 private:
  struct Coordinate {
    Eigen::Index index;
    Eigen::Index state;
    Eigen::Index next;
    Eigen::Index reference;
  };
  struct Moves {
    const TransitionModel* transition;
    std::vector<std::vector<Coordinate>> by_action;
  };

  std::size_t num_actions_;
  std::vector<Moves> moves_;
  Eigen::Index directions_ = 0;
  Eigen::RowVectorXd belief_;
  Matrix derivatives_;  // coordinate × state
  Matrix moved_;
  Eigen::RowVectorXd weights_;
};

}  // namespace oas
