#include "oas/planning/planner.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

constexpr int kCoarsest = 6;
constexpr double kDefaultEntries = 4e6;

double num_entries(const Pomdp& model, int resolution) {
  return BeliefGrid::num_points(model.num_states(), resolution) * model.num_actions() *
         model.num_states() * model.num_observations();
}

bool on_grid(const Pomdp& model, const PlanOptions& options) {
  if (options.planner != "auto") return options.planner == "grid";
  return options.resolution > 0 || default_resolution(model) > 0;
}

Plan plan_on_grid(const Pomdp& model, const PlanOptions& options, int resolution,
                  const Plan* coarse, Parallelism parallelism) {
  GridSolver solver(BeliefGrid(model.num_states(), resolution), parallelism);
  if (coarse != nullptr) {
    const BeliefGrid from(model.num_states(), coarse->resolution);
    solver.reset(resample_bias(coarse->bias, from, solver.grid()));
  }
  RviOptions rvi;
  rvi.iota = options.iota;
  rvi.span_tolerance = options.span_tolerance;
  rvi.max_sweeps = options.max_sweeps;
  const RviResult& result = solver.solve(model, rvi);
  Plan plan(model);
  plan.planner = "grid";
  plan.iota = options.iota;
  plan.gain_upper = result.largest_increment;
  plan.status = result.status;
  plan.message = result.message;
  plan.iterations = result.iterations;
  plan.residual = result.residual;
  plan.resolution = resolution;
  plan.bias = result.bias;
  return plan;
}

// Refines `plan` (already certified) until the gap is closed or nothing may grow any more.
void close_gap(Plan& plan, const PlanOptions& options, Parallelism parallelism) {
  SimulationOptions simulation = options.simulation;
  const double gap = *options.gap;
  const bool grid = plan.planner == "grid";
  while (plan.gain_upper - plan.gain_lower > gap) {
    if (plan.status == SolveStatus::stalled) {
      plan.message +=
          fmt::format("; the gap is {:.3g}, not {:.3g}, and no finer grid will close it",
                      plan.gain_upper - plan.gain_lower, gap);
      return;
    }
    const double noise = plan.certificate.half_width;
    const bool more_steps = 2 * simulation.steps <= options.max_steps;
    const bool finer = grid &&
                       num_entries(plan.model, 2 * plan.resolution) <= options.max_entries &&
                       BeliefGrid::num_points(plan.model.num_states(), 2 * plan.resolution) <
                           BeliefGrid::kMaxPoints;
    if (noise > 0.25 * gap && more_steps) {
      simulation.steps *= 2;
    } else if (finer) {
      plan = plan_on_grid(plan.model, options, 2 * plan.resolution, &plan, parallelism);
    } else if (more_steps && noise > 0.05 * (plan.gain_upper - plan.gain_lower)) {
      simulation.steps *= 2;
    } else {
      plan.message += fmt::format("; the gap is {:.3g}, not {:.3g}: the budget of {} is spent",
                                  plan.gain_upper - plan.gain_lower, gap,
                                  more_steps ? "grid points" : "grid points and steps");
      return;
    }
    certify(plan, simulation, parallelism);
  }
  plan.message += fmt::format("; the gap of {:.3g} is reached", gap);
}

}  // namespace

void PlanOptions::validate(const Pomdp& model) const {
  check_ranges(*this);
  check_floor(iota, model.num_actions());
  simulation.validate();
  point.validate();
}

PlanOptions plan_options(const Pomdp& model, std::span<const Setting> settings) {
  PlanOptions options;
  SettingFields fields;
  options.visit(fields);
  fields.apply(settings, "oas plan");
  options.point.seed = options.simulation.seed;
  if (options.planner == "auto" && !on_grid(model, options)) {
    options.planner = "point";
    fields.require_looked_at(settings);
    options.planner = "auto";
  }
  return options;
}

int default_resolution(const Pomdp& model) {
  if (model.num_states() == 1) return 1;
  constexpr std::array<int, 2> kFinest = {500, 50};  // S = 2, S > 2
  const int finest = kFinest[model.num_states() == 2 ? 0 : 1];
  if (num_entries(model, kCoarsest) > kDefaultEntries || model.num_states() > kMaxGridStates) {
    return 0;
  }
  int resolution = kCoarsest;
  while (resolution < finest && num_entries(model, resolution + 1) <= kDefaultEntries) ++resolution;
  return resolution;
}

std::vector<double> resample_bias(std::span<const double> bias, const BeliefGrid& from,
                                  const BeliefGrid& to) {
  OAS_REQUIRE(bias.size() == from.size() && from.num_states() == to.num_states(),
              "a bias of {} values on a grid of {} points over {} states, for {} states",
              bias.size(), from.size(), from.num_states(), to.num_states());
  std::vector<double> out(to.size());
  std::array<double, kMaxGridStates> belief;
  std::array<double, kMaxGridStates> weights;
  std::array<std::uint32_t, kMaxGridStates> indices;
  const auto view = std::span(belief).first(static_cast<std::size_t>(to.num_states()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    to.point(i, view);
    const int count = from.interpolate(view, indices.data(), weights.data());
    double value = 0.0;
    for (int k = 0; k < count; ++k) value += weights[k] * bias[indices[k]];
    out[i] = value;
  }
  return out;
}

void certify(Plan& plan, const SimulationOptions& options, Parallelism parallelism) {
  plan.gain_lower = plan.gain_upper;  // a valid plan is needed to simulate
  const GainInterval interval =
      evaluate_by_simulation(plan.model, plan, plan.model, options, parallelism);
  // No policy earns less than the least reward; a limit from few runs may well be below it.
  const double least = plan.model.expected_reward().minCoeff();
  plan.gain_lower =
      std::clamp(interval.lower_limit, std::min(least, plan.gain_upper), plan.gain_upper);
  plan.certificate = {interval.level, interval.seed, interval.steps, interval.mean,
                      interval.mean - interval.lower_limit};
}

Plan make_plan(const Pomdp& model, const PlanOptions& options, Parallelism parallelism) {
  options.validate(model);
  static_cast<void>(model.transition());
  int resolution = options.resolution > 0 ? options.resolution : default_resolution(model);
  if (resolution == 0) resolution = kCoarsest;  // asked for by name
  Plan plan = on_grid(model, options)
                  ? plan_on_grid(model, options, resolution, nullptr, parallelism)
                  : point_based_plan(model, options.iota, options.point);
  certify(plan, options.simulation, parallelism);
  if (options.gap) close_gap(plan, options, parallelism);
  return plan;
}

}  // namespace oas
