#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/hull/detail/hull_program.hpp"
#include "oas/planning/hull/detail/successor_beliefs.hpp"

namespace oas::detail {

/// The decision process on points that bounds the belief process from above (hull_bound.hpp): from
/// point i, action a and observation o lead to a belief that is written as a mixture Σ_j λ_j b_j of
/// points; the next action a' is chosen for all of it, then the point j is told. A pair (i, a) is
/// either expanded, with a mixture for each observation, or deferred: then the point is given up
/// for its own mixture of older points once a is chosen, Q(i,a) = Σ_j λ_j Q(j,a).
class HullChain {
 public:
  struct Branch {
    int observation = 0;
    double probability = 0.0;
    Mixture next;
  };

  HullChain(const Pomdp& model, double iota);

  /// A new point with its mixture of the others, expanded until the best action is.
  int add(SparseBelief belief, Mixture home);
  void expand(int point, int action);

  /// Damped sweeps until the largest increment settles. Returns the least that it was, with a
  /// margin for rounding: no policy has a gain above it.
  double settle();
  /// One synchronous sweep at fixed Q: the largest increment, with the margin. A bound for any Q.
  [[nodiscard]] double certificate();

  /// Share of the steps that the best policy of this process spends with each pair [i][A].
  const std::vector<double>& occupancy();

  /// Cheapest mixture at today's values.
  [[nodiscard]] Mixture cheapest(const SparseBelief& belief) {
    return program_.solve(belief, values_);
  }
  /// What a mixture is worth before the next action is chosen.
  [[nodiscard]] double worth(const Mixture& mixture) const;
  void set_next(int point, int action, int branch, Mixture next);

  [[nodiscard]] const PointSet& points() const { return points_; }
  [[nodiscard]] SuccessorBeliefs& successors() { return successors_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] bool is_expanded(int point, int action) const {
    return !branches_of(point, action).empty();
  }
  [[nodiscard]] const std::vector<Branch>& branches_of(int point, int action) const {
    return branches_[pair(point, action)];
  }
  /// v of all points: the mean of Q under the greedy policy with its floor.
  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] std::size_t num_entries() const { return num_entries_; }
  /// Products so far, about.
  [[nodiscard]] double work() const { return work_ + program_.work(); }

 private:
  // Expanded pairs in one piece, for sweeps.
  struct Flat {
    std::vector<std::size_t> pairs;
    std::vector<std::size_t> first_branch;  // of each pair, and the end
    std::vector<std::size_t> first_entry;   // of each branch, and the end
    std::vector<double> probability;        // of each branch
    std::vector<std::uint32_t> point;       // of each entry
    std::vector<double> weight;
  };

  void flatten();
  [[nodiscard]] double mean_over_policy(const double* values) const;
  // Q of a branch's mixture for all actions, into scratch_.
  void mix(std::size_t branch);
  // TQ - Q of all expanded pairs, into increments_; the largest is returned.
  double sweep();
  void apply_increments(double damping, double shift);
  void fill_deferred(int point);
  [[nodiscard]] double rounding_margin() const;
  void choose_actions();
  void spread(std::size_t number, double mass, std::vector<double>& out) const;
  // `counted` of the mass is added to the occupancy.
  void step(std::vector<double>& now, std::vector<double>& next, double counted);

  [[nodiscard]] std::size_t pair(int point, int action) const {
    return static_cast<std::size_t>(point) * static_cast<std::size_t>(num_actions_) +
           static_cast<std::size_t>(action);
  }

  int num_actions_;
  double iota_;
  Matrix rewards_;  // A×S
  PointSet points_;
  HullProgram program_;
  SuccessorBeliefs successors_;
  std::vector<double> q_;                      // [point][A]
  std::vector<double> values_;                 // [point]
  std::vector<double> reward_;                 // [point][A]
  std::vector<Mixture> home_;                  // [point]; empty: a corner
  std::vector<std::vector<Branch>> branches_;  // [point][A]; empty: deferred
  Flat flat_;
  bool flat_is_old_ = true;
  std::vector<int> best_;                 // action after each branch
  std::vector<std::size_t> flat_number_;  // of each pair
  double gain_ = 0.0;                     // largest increment of the last sweep
  std::vector<double> increments_;
  std::vector<double> scratch_;
  std::vector<double> occupancy_;
  std::size_t num_entries_ = 0;
  double work_ = 0.0;
};

}  // namespace oas::detail
