#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/horizon/horizon_plan.hpp"
#include "oas/planning/plan.hpp"
#include "oas/planning/points/point_based.hpp"

namespace oas {

/// What `oas plan` can be told.
struct PlanOptions {
  std::string planner = "auto";  ///< one of planners(); auto: the first that suits the model
  double iota = 0.0;             ///< floor of the policy class, in [0, 1/A]
  int resolution = 0;            ///< of the grid; 0: default_resolution()
  double span_tolerance = 1e-6;  ///< of the value iteration, > 0
  int max_sweeps = 100'000;
  /// Maximise Σ_t γ^t r_t from the start instead of the average, in (0, 1).
  std::optional<double> discount;
  /// Maximise the sum of the rewards of so many steps from the start, discounted or not.
  std::optional<int> horizon;
  /// What refining a plan may cost, in 10⁹ products; absent: what the planner takes by itself.
  std::optional<double> work;
  /// "failed=0.01": long-run share of the steps in a state (or several, worn+failed) at most this;
  /// empty: no limit.
  std::string limit;
  /// Refine grid and simulation until gain_upper - gain_lower is at most this, > 0.
  std::optional<double> gap;
  /// Budget of that refinement: probabilities in the compiled rows, simulated steps.
  double max_entries = 3e7;
  std::uint64_t max_steps = 10'000'000;
  SimulationOptions simulation;  ///< of the lower bound
  PointOptions point;            ///< of the point-based planner

  template <class Fields>
  void visit(Fields& fields) {
    fields("iota", iota, {0.0}, "smallest probability of every action, at most 1/A");
    fields("gap", gap, {kAboveZero}, "refine until the bounds are at most this far apart");
    fields("discount", discount, {kAboveZero, kBelowOne},
           "maximise the discounted sum from the start instead of the average");
    fields("horizon", horizon, {1, kMostHorizon},
           "maximise the sum over this many steps from the start instead of the "
           "average");
    fields("work", work, {kAboveZero},
           "limit on the work of refining a plan, in 10^9 products (about a second "
           "each)");
    fields.text("limit", limit, "STATE=SHARE: at most this share of the steps in a bad state");
    fields.choice("planner", planner, {"auto", "grid", "point"}, "how to plan");
    fields("grid", resolution, {0, 1'000'000}, "resolution of the belief grid; 0: automatic");
    fields("tolerance", span_tolerance, {kAboveZero}, "span at which sweeps stop");
    fields("steps", simulation.steps, {64, 1'000'000'000'000},
           "steps of the simulation behind the lower bound");
    fields("seed", simulation.seed, "same seed, same bytes");
    fields.when(
        {"grid", "tolerance"}, [this] { return planner == kAutomatic || looks_at_grid(); },
        "used only by a planner on a grid");
    fields.when(
        {"work"}, [this] { return horizon || gap || planner == kAutomatic || !looks_at_grid(); },
        "used only by --horizon, by --gap and by plans for many states");
    fields.when(
        {"grid", "tolerance", "steps", "seed"}, [this] { return !horizon; },
        "a plan for a horizon has neither a grid nor a simulation");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& model) const;
  /// Throws InvalidArgument that begins with `what` where another criterion is asked for.
  void require_average(std::string_view what) const;

  static constexpr std::string_view kAutomatic = "auto";

 private:
  [[nodiscard]] bool looks_at_grid() const;
};

/// Options for a model with these settings; one seed for all that is drawn. Throws InvalidArgument
/// on one that the planner, where it is `auto` the one that is chosen, does not look at.
[[nodiscard]] PlanOptions plan_options(const Pomdp& model, std::span<const Setting> settings);

/// The resolution of a grid that solves in about a second on one core; 0 where even a coarse grid
/// (below 6 steps a side) is too large, so that the point-based planner is chosen.
[[nodiscard]] int default_resolution(const Pomdp& model);

/// The simulation of the lower bound where nothing is asked for: with more than a thousand states
/// fewer steps, since each takes long.
[[nodiscard]] SimulationOptions default_simulation(const Pomdp& model);

/// Plans and certifies: value iteration gives gain_upper, simulation of the policy gain_lower. With
/// a gap it goes on, doubling the resolution (warm) or the simulated steps, whichever is the wider
/// part, and the plan's message says whether the gap was reached or which budget was spent. Same
/// bytes for any number of threads. With a discount Plan::discounted says what the policy is worth
/// from the start; with a horizon see horizon_plan.hpp, with a limit limited_plan.hpp. Throws
/// InvalidArgument on bad options, an unknown transition model, a grid that does not fit, and a
/// limit that cannot be kept.
[[nodiscard]] Plan make_plan(const Pomdp& model, const PlanOptions& options = {},
                             Parallelism parallelism = {});

/// Plans for the most optimistic dynamics within a total-variation radius, in [0, 1], of each row:
/// a plan for the best member found, with the bound over the whole set. Throws InvalidArgument as
/// make_plan does, and where the planner takes no confidence sets.
[[nodiscard]] Plan optimistic_plan(const Pomdp& model, double radius,
                                   const PlanOptions& options = {}, Parallelism parallelism = {});

/// Simulates the plan in its own model and sets Plan::discounted->lower, never above the upper
/// bound: the mean over runs from the start of V(b_0) + Σ_t γ^t [Σ_a π(a) Q(b_t,a) - V(b_t)], V the
/// plan's own function, which has next to no variance where V is good; after the last step the
/// least reward is counted for ever. Throws InvalidArgument where the plan is not discounted.
void certify_discounted(Plan& plan, const SimulationOptions& options, Parallelism parallelism = {});

/// Simulates the plan in its own model and sets gain_lower (never above gain_upper, which is
/// proved) and the certificate.
void certify(Plan& plan, const SimulationOptions& options, Parallelism parallelism = {});

/// v on a finer or coarser grid: interpolated.
[[nodiscard]] std::vector<double> resample_bias(std::span<const double> bias,
                                                const BeliefGrid& from, const BeliefGrid& to);

}  // namespace oas
