#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/plan.hpp"

/// The true gain of a plan in a model `truth`, when beliefs are kept with a model `filter` that may
/// be wrong and the look-ahead uses the plan's own model. Two ways that must agree within their
/// errors.
namespace oas {

struct ChainOptions {
  /// Of the grid on which the agent's belief lives; 0: the plan's own.
  int resolution = 0;
  double span_tolerance = 1e-7;
  int max_sweeps = 200'000;

  void validate() const;
};

/// Gain of the finite chain on (agent's belief on the grid, true state).
struct ChainEvaluation {
  SolveStatus status = SolveStatus::not_run;
  std::string message = "not run";
  int iterations = 0;
  double residual = 0.0;
  double gain = 0.0;      ///< from the model's start
  double smallest = 0.0;  ///< of the closed classes that are reached, or over the whole chain
  double largest = 0.0;
  int resolution = 0;
};

/// The agent's belief jumps to the vertices of its cell with the barycentric weights, which leaves
/// its mean in place; the action is that of the exact belief before the jump; true states and
/// observations are exact. No bound: the error is that of the grid, of either sign, about 1e-4 at
/// m = 80 for S = 3 where the filter is right, up to some 1e-3 where a wrong filter puts beliefs on
/// the border of two action regions (docs/reference/planning.md); compare two resolutions. Solved
/// by damped value iteration for the fixed policy, G·A·S unknowns, O(G A O S²) a sweep, and where
/// that does not settle soon, as with classes left once in a million steps, by linear systems for
/// the long run of what the start leads to (up to 3,000 unknowns). Work is bounded: where
/// it is spent, status sweep_limit, the gain is within smallest and largest. Throws InvalidArgument
/// when sizes differ, when a model lacks a transition model, or when the grid does not fit.
[[nodiscard]] ChainEvaluation evaluate_on_chain(const Pomdp& truth, const Plan& plan,
                                                const Pomdp& filter,
                                                const ChainOptions& options = {},
                                                Parallelism parallelism = {});

struct SimulationOptions {
  std::uint64_t steps = 200'000;  ///< over all replications, beside the burn-in
  int replications = 8;           ///< independent runs from the start
  int batches_per_replication = 8;
  std::uint64_t burn_in = 1000;  ///< steps of each replication that are not counted
  double level = 0.999;          ///< of the confidence limits, in (0, 1)
  std::uint64_t seed = 1;
  /// Average Σ_a π(a) Q(b,a) - v(b), b the belief under `truth` and v the plan's bias, instead of
  /// rewards: the same mean up to span(v)/steps for any v (the difference telescopes up to a
  /// martingale), and next to no variance where v is good.
  bool control_variate = true;

  template <class Fields>
  void visit(Fields& fields) {
    fields("steps", steps, {2, 1'000'000'000'000}, "simulated steps, over all replications");
    fields("replications", replications, {1}, "independent runs from the start");
    fields("batches_per_replication", batches_per_replication, {1},
           "batches that each is cut into");
    fields("burn_in", burn_in, "steps of each replication that are not counted");
    fields("level", level, {kAboveZero, kBelowOne}, "confidence level");
    fields("seed", seed, "same seed, same bytes");
    fields("control_variate", control_variate,
           "average advantages in place of rewards: the same mean, and less noise");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// A mean with Student limits over the means of equal batches, or of whole replications where
/// successive batches depend on each other.
struct GainInterval {
  double mean = 0.0;
  double standard_error = 0.0;
  double half_width = 0.0;   ///< of the two-sided interval at `level`
  double lower_limit = 0.0;  ///< one-sided at `level`
  double upper_limit = 0.0;  ///< likewise
  double level = 0.0;
  int num_batches = 0;           ///< or replications, behind the limits
  bool by_replication = false;   ///< batches depend on each other: the replications decide
  double lag_correlation = 0.0;  ///< of successive batch means: near 0 when batches are long enough
  std::uint64_t steps = 0;
  std::uint64_t seed = 0;
  /// At the end of the simulation actions were still taken that may leave a class of states for
  /// ever, as a machine that has not failed yet: the mean is not that of the long run, and
  /// lower_limit is at most the least reward of the classes that are never left, and upper_limit at
  /// least the largest.
  bool transient = false;
  /// The start may lead to several classes of states that are never left, and no run ended in some
  /// of these: the rewards there are in the limits. Where there are several at all, each has limits
  /// of its own, and the start says what they weigh.
  bool unseen = false;

  [[nodiscard]] std::string brief() const;
};

/// Replications run in parallel on streams (seed, replication, ·) and are combined in order.
[[nodiscard]] GainInterval evaluate_by_simulation(const Pomdp& truth, const Plan& plan,
                                                  const Pomdp& filter,
                                                  const SimulationOptions& options = {},
                                                  Parallelism parallelism = {});

/// Limits from batch means, `batches_per_replication` of each replication in a row. Where these are
/// correlated beyond 0.3 the chain remembers longer than a batch lasts, and the means of the
/// replications, which are independent whatever it does, are taken if their limits are wider.
/// Throws InvalidArgument on fewer than two batches and on a level that is not in (0, 1).
[[nodiscard]] GainInterval batch_means_interval(std::span<const double> batch_means,
                                                int batches_per_replication, double level);

}  // namespace oas
