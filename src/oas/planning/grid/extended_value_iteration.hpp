#pragma once

#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/relative_value_iteration.hpp"

namespace oas {

/// All models that agree with `center` but for T̃ with ‖T̃_a(s,·) - T̂_a(s,·)‖₁ <= 2 r_a(s): r is a
/// total-variation radius, in [0, 1]. (The paper's lemma gives a Frobenius radius R per matrix:
/// r = √S·R/2 covers it.)
struct ConfidenceSet {
  Pomdp center;
  std::vector<double> radius;  ///< [A][S]

  /// The same radius for every row.
  static ConfidenceSet uniform(Pomdp center, double radius);

  /// Throws InvalidArgument naming the index and the value.
  void validate() const;
  [[nodiscard]] double max_radius() const;
  [[nodiscard]] bool contains(const TransitionModel& transition, double tolerance = 1e-9) const;
  /// A random member; half of the rows lie on the border of the set.
  [[nodiscard]] TransitionModel sample(Rng& rng) const;
};

/// The largest number of states for which the vertices below are enumerated.
inline constexpr int kMaxVertexStates = 6;

struct EviOptions {
  RviOptions rvi;         ///< floor, tolerance, damping
  int max_rounds = 100;   ///< choices of the optimistic dynamics
  int max_members = 100;  ///< members of the set that are solved in search of the best
  bool by_price = false;  ///< bound shifts by price, as beyond kMaxVertexStates, with fewer too

  void validate(int num_actions) const;
};

/// Bound and best member found.
struct EviResult {
  SolveStatus status = SolveStatus::not_run;
  std::string message = "not run";
  int rounds = 0;
  double residual = 0.0;
  /// At least the gain of every policy of the class in every model of the set.
  double gain_bound = 0.0;
  std::vector<double> bias;  ///< of the relaxation
  /// The member of the set with the largest gain among those tried, and its plain solution.
  TransitionModel member;
  RviResult member_solution;
};

/// Extended (optimistic) value iteration. Where T̂ would lead from belief b by action a to the
/// predicted distribution p (per observation in `before` timing, where rows enter with the
/// posterior after o; one for all observations in `after`, where the shift also moves P(o)),
/// nature may choose any q with ‖q - p‖₁ <= 2t, t = Σ_s w(s) r_a(s).
///
/// What is proved. The exact relaxed n-step value J is convex in b, hence convex in q, hence
/// largest at a vertex of ball ∩ simplex: mass t moved to one state j, drained from other states
/// one after the other. Along such a path of moved mass J lies below its chords, and below the
/// interpolated v; so with C the running maximum of v over fixed break points of the path (a ladder
/// of masses, and the masses at which a state is empty), the chord of C at t bounds J. This bound
/// is v(p) at t = 0, never falls with t, and is at least J for every member. Hence: radius 0 is
/// plain value iteration; gain_bound never falls when radii grow (up to the span tolerance);
/// gain_bound is at least the best gain of every member. Where the reward depends on T̃ beyond r(o)
/// (a table R(a,s,s',o)) it is maximised row by row on its own. Choices per belief define no single
/// POMDP: the member returned is found by search and its gain may lie well below the bound.
///
/// With more than kMaxVertexStates states the paths are too many, and a bound that is linear in the
/// moved mass takes their place (detail::ShiftPrices), capped by the gain where the state is seen.
/// It is larger. At a fixed v it never falls with t; between two solutions it may, a little.
///
/// Cost a round: O(G A O) enumerations of at most S! paths (few for small radii); by price O(G A O
/// S²). The same bits for any number of threads.
[[nodiscard]] EviResult extended_value_iteration(const ConfidenceSet& set, const BeliefGrid& grid,
                                                 const EviOptions& options = {},
                                                 Parallelism parallelism = {});

/// argmax over ‖x - row‖₁ <= 2r, x in the simplex, of x·h: mass r moved from where h is lowest to
/// where it is highest.
[[nodiscard]] std::vector<double> optimistic_row(std::span<const double> row, double radius,
                                                 std::span<const double> h);

}  // namespace oas
