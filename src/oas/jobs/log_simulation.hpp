#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"
#include "oas/planning/plan.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {

/// A plan that acts, with the model that keeps its beliefs; none: the plan's own.
struct PlanPlayer {
  Plan plan;
  std::optional<Pomdp> filter;
};

/// Who plays, how long, and what is logged beside actions, observations and propensities.
struct LogSimulationOptions {
  std::variant<PolicyOptions, PlanPlayer> policy;
  std::int64_t runs = 1;
  std::int64_t first_run = 0;  ///< number of the first of them, of which its luck depends
  std::int64_t steps = 0;      ///< of each run, at least 1
  std::uint64_t seed = 1;
  bool reward = false;
  bool state = false;
  bool run_names = false;  ///< a column `run` even where there is one run only

  template <class Fields>
  void visit(Fields& fields) {
    fields("runs", runs, {1, 4'000'000'000}, "number of independent runs");
    fields("steps", steps, {1, 1'000'000'000'000}, "steps of each run");
    fields("seed", seed, "same seed, same bytes");
    fields("reward", reward, "log the reward of each step");
    fields("state", state, "log the hidden state (for oas calibrate and diagnostics)");
  }

  /// Throws InvalidArgument naming the field and the value: also on a model without transition or
  /// sensors, and on a plan for other sizes or for real-valued observations.
  void validate(const AnyModel& model) const;
};

struct SimulatedLog {
  double reward = 0.0;  ///< of all steps
  std::int64_t steps = 0;

  [[nodiscard]] double mean_reward() const { return reward / static_cast<double>(steps); }
};

/// Is given the next rows of run `run`, as a log has them; `readings` [row][component] where
/// observations are real-valued, else empty.
using ReceiveRows =
    std::function<void(const Trajectory& rows, std::span<const double> readings, std::int64_t run)>;

/// Lets a policy or a plan play and hands out its rows, run after run. It is simulate_log() without
/// the file; rewards and states are always among them.
SimulatedLog simulate_rows(const AnyModel& model, const LogSimulationOptions& options,
                           const ReceiveRows& receive, Parallelism parallelism = {},
                           const RowsRead& progress = {});

/// Lets a policy or a plan play and writes a log (LogWriter). Run r uses the streams (seed, r, ·).
/// Runs are simulated side by side and written in their order: same bytes for any number of
/// threads, in constant memory. Where rows are reading-first, the first reading comes before the
/// first action, and what the last action of a run led to is not written.
SimulatedLog simulate_log(const AnyModel& model, const LogSimulationOptions& options,
                          const std::string& path, Parallelism parallelism = {},
                          const RowsRead& progress = {});

}  // namespace oas
