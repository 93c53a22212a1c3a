#pragma once

#include <Eigen/Core>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/horizon/detail/branches.hpp"
#include "oas/planning/horizon/detail/horizon_bounds.hpp"
#include "oas/planning/horizon/horizon_plan.hpp"

namespace oas::detail {

/// Bounds for each number of steps to go, refined by trials from the start.
class HorizonSolver {
 public:
  HorizonSolver(const Pomdp& model, const HorizonOptions& options);

  /// Trials, and sweeps over the beliefs that they met, until upper - lower at the start is at most
  /// `gap`, the work is spent or nothing moves any more. Returns the number of trials.
  int solve(double gap, double work);
  [[nodiscard]] bool has_spent(double work) const { return spent_ >= work; }

  [[nodiscard]] double lower() const;
  [[nodiscard]] double upper() const;
  /// The best conditional plans at the start, with all that follows from them.
  [[nodiscard]] HorizonPolicy policy() const;

 private:
  struct Root {
    Observation first;
    double probability;
    Eigen::VectorXd belief;
  };
  // One look ahead from a belief: what each action and observation leads to.
  struct Look {
    std::vector<Eigen::MatrixXd> next;  // by action, S×O: P(o) b'_o
    Eigen::MatrixXd mass;               // A×O: P(o)
    Eigen::MatrixXd lower;              // A×O: weighted by P(o)
    Eigen::MatrixXd upper;
    Eigen::MatrixXi plan;        // A×O: the best conditional plan there
    Eigen::VectorXd best_lower;  // by action: with the reward
    Eigen::VectorXd best_upper;
  };

  void add_blind_plans();
  void add_informed_bounds(const Pomdp& model);
  // Value iteration on a grid, where one is affordable for all numbers of steps to go.
  void add_grid_bounds(const Pomdp& model);
  [[nodiscard]] double gap_at(const Root& root) const;
  [[nodiscard]] const Root& widest() const;
  // Whether a bound has moved.
  bool trial(const Root& root, double gap);
  void look_from(const Eigen::VectorXd& belief, int to_go);
  // The observation of `action` that leaves most of the gap; -1: none leaves too much.
  [[nodiscard]] int widest_observation(int action, double allowed) const;
  // Backs up both bounds at a belief where they move by more than `worth`.
  bool update(const Eigen::VectorXd& belief, int to_go, double worth);
  // The same for all numbers of steps to go at all these beliefs (columns), until the work is
  // spent.
  bool sweep(const Eigen::MatrixXd& beliefs, double worth, double work);
  void remember(const Eigen::VectorXd& belief);
  [[nodiscard]] ConditionalPlan backed_up(int action, int to_go) const;

  [[nodiscard]] const LowerBound& lower_at(int to_go) const {
    return lower_[static_cast<std::size_t>(to_go)];
  }
  [[nodiscard]] const UpperBound& upper_at(int to_go) const {
    return upper_[static_cast<std::size_t>(to_go)];
  }

  Branches branches_;
  Matrix rewards_;  // A×S
  int steps_;
  double discount_;
  double rounding_;  // moves below this are none
  std::vector<Root> roots_;
  std::vector<LowerBound> lower_;  // by steps to go, the first unused
  std::vector<UpperBound> upper_;
  Look look_;
  std::vector<Eigen::VectorXd> met_;  // beliefs of trials, the oldest replaced
  std::size_t met_at_ = 0;
  double spent_ = 0.0;
};

}  // namespace oas::detail
