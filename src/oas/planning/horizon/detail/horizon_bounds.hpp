#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/grid/belief_grid.hpp"

/// What is known about the best value with some number of steps to go: from below by conditional
/// plans, from above by convexity. Both are functions of x = p b, a belief times a weight, and
/// p times as large as at b, so that nobody has to normalise.
namespace oas::detail {

/// A conditional plan: an action, and for each observation a plan with one step less.
struct ConditionalPlan {
  Eigen::VectorXd alpha;  ///< its value in each state
  int action = 0;
  std::vector<int> next;  ///< [O], by number among those with one step less; empty: none is left
};

/// max_k α_k·x over conditional plans.
class LowerBound {
 public:
  struct Best {
    double value = 0.0;
    int plan = 0;
  };

  /// Keeps the plan and returns its number. One that is nowhere better than another is never the
  /// best, but may still be named by plans with more steps.
  int add(ConditionalPlan plan);
  [[nodiscard]] Best best(const double* x) const;
  [[nodiscard]] const ConditionalPlan& plan(int number) const {
    return plans_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] std::size_t size() const { return active_.size(); }

 private:
  std::vector<ConditionalPlan> plans_;
  std::vector<int> active_;      // that no other one dominates
  std::vector<double> vectors_;  // theirs, [active][S]
};

/// The least of the fast informed bound max_a β_a·x, of values at the points of a grid,
/// interpolated in between, where there is one, and of the sawtooth over points (b_i, v_i): x = φ
/// b_i + a rest over corners, φ = min_s x(s)/b_i(s), and a convex function is at most φ v_i + Σ_s
/// rest(s) c_s there, c_s its bound at the corner of state s.
class UpperBound {
 public:
  explicit UpperBound(Eigen::MatrixXd informed);  ///< β, S×A
  /// The values at the points of the grid are at most these: proved by the caller.
  void set_grid(std::shared_ptr<const BeliefGrid> grid, std::vector<double> values);

  [[nodiscard]] double value(const double* x) const;
  /// The value at belief b is at most v: proved by the caller.
  void add(const Eigen::VectorXd& belief, double v);
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  /// Probabilities of the points' beliefs that are not 0.
  [[nodiscard]] std::size_t num_entries() const { return entries_; }

 private:
  struct Mass {
    int state = 0;
    double probability = 0.0;
  };
  struct Point {
    std::vector<Mass> support;
    double value = 0.0;
    double below = 0.0;  // what it is less than the corners' mean
  };
  [[nodiscard]] double on_grid(const double* x) const;
  // φ times `below`, or anything not below `best` when it is not.
  static double saw(const Point& point, const double* x, double best);
  void set_corner(int state, double v);
  void prune();

  Eigen::MatrixXd informed_;
  Eigen::VectorXd corners_;
  std::shared_ptr<const BeliefGrid> grid_;
  std::vector<double> grid_values_;
  std::vector<Point> points_;
  std::size_t entries_ = 0;
  std::size_t prune_at_ = 32;
};

}  // namespace oas::detail
