#include "oas/planning/planner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/planning/detail/attempt.hpp"
#include "oas/planning/limited_plan.hpp"
#include "oas/planning/planners.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

// Beyond this a step of a simulation costs so much that the usual number of them takes minutes.
constexpr int kManyStates = 1000;
constexpr double kCertificateWork = 1e9;  // products
constexpr double kFewestSteps = 640.0;
constexpr double kLargestReward = 1e100;  // sums and squares of more would not be finite

// A plan of this planner, with a certificate.
Plan made(const PlannerInfo& planner, const Pomdp& model, PlanOptions options,
          Parallelism parallelism) {
  // More policies and longer simulations may follow.
  if (options.gap) options.simulation = detail::attempt(detail::attempt(options.simulation, 1), 1);
  Plan plan = planner.make(model, options, parallelism);
  if (plan.certificate.steps == 0) certify(plan, options.simulation, parallelism);
  return plan;
}

// The better bound of both plans on either side, and the policy behind the lower one.
void keep_better(Plan& plan, const Plan& other) {
  const double upper = std::min(plan.gain_upper, other.gain_upper);
  if (other.gain_lower >= plan.gain_lower) {
    plan = other;
  } else {
    plan.status = other.status;
    plan.message = other.message;
    plan.iterations = other.iterations;
    plan.residual = other.residual;
  }
  plan.gain_upper = upper;
  plan.gain_lower = std::min(plan.gain_lower, upper);
}

// Refines `plan` (already certified) until the gap is closed or nothing may grow any more. Neither
// bound ever gets worse. What comes next, a longer simulation or another policy, depends on the
// last certificate, and all simulations have the same luck: so it is the pair of policy and length
// that has a share of the level, whether it is tried or not.
void close_gap(const PlannerInfo& planner, Plan& plan, const PlanOptions& options,
               Parallelism parallelism) {
  SimulationOptions simulation = options.simulation;
  const double gap = *options.gap;
  Plan last = plan;
  int policy = 1;
  int length = 1;
  while (plan.gain_upper - plan.gain_lower > gap) {
    if (plan.status == SolveStatus::stalled) {
      plan.message +=
          fmt::format("; the gap is {:.3g}, not {:.3g}, and no finer grid will close it",
                      plan.gain_upper - plan.gain_lower, gap);
      return;
    }
    const double noise = last.certificate.half_width;
    const bool more_steps = 2 * simulation.steps <= options.max_steps;
    if (noise > 0.25 * gap && more_steps) {
      simulation.steps *= 2;
      ++length;
    } else if (std::optional<Plan> better = planner.refine(last, options, parallelism)) {
      last = std::move(*better);
      ++policy;
    } else if (more_steps && noise > 0.05 * (plan.gain_upper - plan.gain_lower)) {
      simulation.steps *= 2;
      ++length;
    } else {
      plan.message += fmt::format("; the gap is {:.3g}, not {:.3g}: the budget of {} is spent",
                                  plan.gain_upper - plan.gain_lower, gap,
                                  fmt::format("{}{}", planner.has_grid ? "grid points" : "work",
                                              more_steps ? "" : " and steps"));
      return;
    }
    detail::certify_attempt(last, detail::attempt(simulation, length), policy, parallelism);
    keep_better(plan, last);
  }
  plan.message += fmt::format("; the gap of {:.3g} is reached", gap);
}

// Where no finer grid is to be had and nobody asked for a grid: the planner of last resort, whose
// bound is refined only where it matters. What both have proved holds for either plan.
void try_last_planner(const PlannerInfo& tried, Plan& plan, const PlanOptions& options,
                      Parallelism parallelism) {
  const PlannerInfo& last = planners().back();
  if (plan.gain_upper - plan.gain_lower <= *options.gap || tried.name == last.name) return;
  if (options.planner != PlanOptions::kAutomatic || options.resolution > 0) return;
  if (plan.status == SolveStatus::stalled) return;  // the gain depends on the start
  Plan other = made(last, plan.model, options, parallelism);
  other.gain_upper = std::min(other.gain_upper, plan.gain_upper);
  other.gain_lower = std::min(other.gain_lower, other.gain_upper);
  close_gap(last, other, options, parallelism);
  if (other.gain_lower > plan.gain_lower) {
    plan = std::move(other);
  } else if (other.gain_upper < plan.gain_upper) {
    plan.gain_upper = std::max(other.gain_upper, plan.gain_lower);
    plan.message += fmt::format("; upper bound of the planner {}: {}", last.name, other.message);
  }
}

}  // namespace

void PlanOptions::validate(const Pomdp& model) const {
  check_ranges(*this);
  static_cast<void>(choose_planner(model, *this));
  check_floor(iota, model.num_actions());
  OAS_REQUIRE(!discount || horizon || (!gap && limit.empty()),
              "{} is for the average reward; it cannot be combined with a discount",
              gap ? "gap" : "limit");
  OAS_REQUIRE(!horizon || limit.empty(),
              "limit is for the long run; it cannot be combined with a horizon of {} "
              "steps",
              *horizon);
  OAS_REQUIRE(!horizon || !(iota > 0.0), "iota is {}; a plan for a horizon has no floor", iota);
  OAS_REQUIRE(limit.empty() || !gap, "gap cannot be combined with a limit");
  simulation.validate();
  point.validate();
}

SimulationOptions default_simulation(const Pomdp& model) {
  SimulationOptions simulation;
  if (model.num_states() <= kManyStates) return simulation;
  const double per_step =
      static_cast<double>(model.transition().num_entries()) * model.num_observations();
  simulation.steps = static_cast<std::uint64_t>(
      std::clamp(kCertificateWork / per_step, kFewestSteps, static_cast<double>(simulation.steps)));
  simulation.burn_in = std::min(simulation.burn_in, simulation.steps / 80);
  return simulation;
}

PlanOptions plan_options(const Pomdp& model, std::span<const Setting> settings) {
  PlanOptions options;
  SettingFields fields;
  options.visit(fields);
  options.simulation = default_simulation(model);
  fields.apply(settings, "oas plan");
  options.point.seed = options.simulation.seed;
  const PlannerInfo& planner =
      options.horizon ? choose_horizon_planner(options) : choose_planner(model, options);
  const std::string asked = std::exchange(options.planner, planner.name);
  fields.require_looked_at(settings);
  options.planner = asked;
  return options;
}

void PlanOptions::require_average(std::string_view what) const {
  OAS_REQUIRE(!discount && !horizon && limit.empty(),
              "{}; it cannot be combined with a discount, a horizon or a limit", what);
}

bool PlanOptions::looks_at_grid() const { return find_planner(planner).has_grid; }

SimulationOptions detail::attempt(SimulationOptions options, int number) {
  OAS_REQUIRE(number >= 1, "certificate number {}; the first is 1", number);
  options.level = 1.0 - (1.0 - options.level) / (static_cast<double>(number) * (number + 1));
  return options;
}

void detail::certify_attempt(Plan& plan, const SimulationOptions& options, int number,
                             Parallelism parallelism) {
  certify(plan, attempt(options, number), parallelism);
  plan.certificate.level = options.level;
}

void certify(Plan& plan, const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  plan.gain_lower = plan.gain_upper;  // a valid plan is needed to simulate
  const GainInterval interval =
      evaluate_by_simulation(plan.model, plan, plan.model, options, parallelism);
  // No policy earns less than the least reward; a limit from few runs may well be below it.
  const double least = plan.model.expected_reward().minCoeff();
  plan.gain_lower =
      std::clamp(interval.lower_limit, std::min(least, plan.gain_upper), plan.gain_upper);
  plan.certificate = {interval.level, interval.seed, interval.steps, interval.mean,
                      interval.mean - interval.lower_limit};
  if (interval.transient) {
    plan.message +=
        "; at the end of the simulation the plan still took actions that lead, sooner or later, to "
        "states that are never left: the lower limit is the least that is earned there";
  } else if (interval.unseen) {
    plan.message +=
        "; no simulated run ended in some of the states that are never left: in the lower limit "
        "they count with the least that is earned there";
  }
}

Plan make_plan(const Pomdp& model, const PlanOptions& options, Parallelism parallelism) {
  options.validate(model);
  const double largest = model.expected_reward().cwiseAbs().maxCoeff();
  OAS_REQUIRE(largest <= kLargestReward,
              "the reward {} is too large to be summed up; rewards must lie within ±{}", largest,
              kLargestReward);
  if (!options.limit.empty()) return limited_plan(model, options, parallelism);
  if (options.horizon) {
    return choose_horizon_planner(options).make_for_horizon(model, options, parallelism);
  }
  if (options.discount) {
    Plan plan = choose_discounting_planner(options).make_discounted(model, options, parallelism);
    certify(plan, options.simulation, parallelism);
    certify_discounted(plan, options.simulation, parallelism);
    return plan;
  }
  const PlannerInfo& planner = choose_planner(model, options);
  if (!options.gap) return made(planner, model, options, parallelism);
  PlanOptions shared = options;
  shared.simulation = detail::attempt(options.simulation, 1);  // two planners may be tried
  Plan plan = made(planner, model, shared, parallelism);
  close_gap(planner, plan, shared, parallelism);
  try_last_planner(planner, plan, shared, parallelism);
  plan.certificate.level = options.simulation.level;
  return plan;
}

Plan optimistic_plan(const Pomdp& model, double radius, const PlanOptions& options,
                     Parallelism parallelism) {
  options.validate(model);
  options.require_average("a radius is for the average reward");
  const PlannerInfo& planner = choose_optimistic_planner(options);
  const EviResult found =
      planner.best_member(ConfidenceSet::uniform(model, radius), options, parallelism);
  Plan plan = make_plan(model.with_transition(found.member), options, parallelism);
  plan.optimism = Optimism{radius, std::max(found.gain_bound, plan.gain_upper)};
  return plan;
}

}  // namespace oas
