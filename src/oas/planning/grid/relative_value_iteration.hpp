#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/belief_mdp.hpp"

namespace oas {

/// How an iteration ended.
enum class SolveStatus {
  not_run,
  converged,    ///< the span fell to the tolerance
  stalled,      ///< the span stopped falling: the gain depends on the start, or mixing is very slow
  sweep_limit,  ///< max_sweeps were made
};

[[nodiscard]] std::string_view to_string(SolveStatus status);

struct RviOptions {
  /// Floor ι of the policy class, in [0, 1/A]: every action keeps probability at least ι.
  double iota = 0.0;
  /// Stop when max - min of the Bellman increments TV - V is at most this (reward units), > 0.
  double span_tolerance = 1e-6;
  /// At least 1.
  int max_sweeps = 100'000;
  /// v ← v + damping·(TV - v), in (0, 1]. At 1 the iteration oscillates for ever in about 1 % of
  /// random models at ι = 0 and in every periodic one; below 1 it cannot.
  double damping = 0.5;

  /// Throws InvalidArgument naming the field and the value.
  void validate(int num_actions) const;
};

struct RviResult {
  SolveStatus status = SolveStatus::not_run;
  std::string message = "not run";
  int iterations = 0;     ///< sweeps
  double residual = 0.0;  ///< span of the last increments
  /// min and max over the grid of TV - V in the last sweep. They bracket the gain of the finite
  /// grid MDP from every start. Proved for the POMDP itself: largest_increment is an upper bound on
  /// the gain of every policy of the class, from every start belief, for any v, converged or not.
  /// (By induction over the horizon, the interpolated n-step value of the grid MDP is at least the
  /// true one, since the true one is convex; and n-step values of the grid MDP grow by at most
  /// max(TV - V) a step, after any v.) Nothing of the kind holds for smallest_increment: it is no
  /// lower bound for the POMDP. Rounding is not accounted for (about 1e-12).
  double smallest_increment = 0.0;
  double largest_increment = 0.0;
  std::vector<double> bias;  ///< v at the grid points, 0 at point 0

  [[nodiscard]] double gain() const { return 0.5 * (smallest_increment + largest_increment); }
  [[nodiscard]] std::string brief() const;
};

/// Plans on one grid again and again: compiled rows, bias and work space are kept, so that a new
/// solve starts at the last bias and allocates nothing in its sweeps.
class GridSolver {
 public:
  /// Throws as BeliefGrid does.
  explicit GridSolver(BeliefGrid grid, Parallelism parallelism = {});

  /// Compiles the model and runs relative value iteration with the operator
  ///   TV(b) = (1 - Aι) max_a Q(b,a) + ι Σ_a Q(b,a)
  /// from the last bias (0 at first). Jacobi sweeps over the grid points, so the bits do not depend
  /// on the number of threads. Throws InvalidArgument on bad options or a model without transition.
  const RviResult& solve(const Pomdp& model, const RviOptions& options = {});

  /// The same on rows that are already there (compiled, or filled in by the caller through mdp()).
  const RviResult& iterate(const RviOptions& options);

  /// Forgets the bias: the next solve is cold. With an argument: starts from there.
  void reset();
  void reset(std::span<const double> bias);

  [[nodiscard]] const RviResult& result() const { return result_; }
  [[nodiscard]] const BeliefMdp& mdp() const { return mdp_; }
  [[nodiscard]] BeliefMdp& mdp() { return mdp_; }
  [[nodiscard]] const BeliefGrid& grid() const { return mdp_.grid(); }
  [[nodiscard]] Parallelism parallelism() const { return parallelism_; }

 private:
  void sweep_block(std::size_t block, const RviOptions& options);
  void finish(SolveStatus status, int sweeps);

  BeliefMdp mdp_;
  Parallelism parallelism_;
  RviResult result_;
  std::vector<double> next_;
  std::vector<double> lowest_;  // per block
  std::vector<double> highest_;
};

/// One cold solve; GridSolver for many.
[[nodiscard]] RviResult relative_value_iteration(const Pomdp& model, const BeliefGrid& grid,
                                                 const RviOptions& options = {},
                                                 Parallelism parallelism = {});

}  // namespace oas
