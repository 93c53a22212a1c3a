#include "oas/planning/grid/detail/grid_planner.hpp"

#include <algorithm>
#include <array>

#include "oas/belief/first_beliefs.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr int kCoarsest = 6;
constexpr double kDefaultEntries = 4e6;
constexpr int kFewMembers = 10;        // solved in search of an optimistic one, many states
constexpr double kMostPasses = 100.0;  // of the sweeps of one refinement, over the largest grid

double num_entries(const Pomdp& model, int resolution) {
  return BeliefGrid::num_points(model.num_states(), resolution) * model.num_actions() *
         model.num_states() * model.num_observations();
}

int resolution_of(const Pomdp& model, const PlanOptions& options) {
  return options.resolution > 0 ? options.resolution : default_resolution(model);
}

RviOptions sweeps_of(const PlanOptions& options) {
  RviOptions rvi;
  rvi.iota = options.iota;
  rvi.span_tolerance = options.span_tolerance;
  rvi.max_sweeps = options.max_sweeps;
  return rvi;
}

Plan solve_on_grid(const Pomdp& model, const PlanOptions& options, GridSolver& solver) {
  const RviResult& result = solver.solve(model, sweeps_of(options));
  Plan plan(model);
  plan.iota = options.iota;
  plan.gain_upper = result.largest_increment;
  plan.status = result.status;
  plan.message = result.message;
  plan.iterations = result.iterations;
  plan.residual = result.residual;
  plan.bias = GridBias{solver.grid().resolution(), result.bias};
  return plan;
}

// Rows that end with probability 1-γ: their value iteration is the discounted one.
void discount_rows(BeliefMdp& mdp, double discount) {
  for (std::size_t i = 0; i < mdp.num_blocks(); ++i) {
    for (double& probability : mdp.block(i).probabilities) probability *= discount;
  }
}

double value_on(const BeliefGrid& grid, std::span<const double> values,
                std::span<const double> belief) {
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  const int count = grid.interpolate(belief, indices.data(), weights.data());
  double value = 0.0;
  for (int k = 0; k < count; ++k) value += weights[k] * values[indices[k]];
  return value;
}

}  // namespace

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
  const auto view = std::span(belief).first(static_cast<std::size_t>(to.num_states()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    to.point(i, view);
    out[i] = value_on(from, bias, view);
  }
  return out;
}

namespace detail {

bool grid_suits(const Pomdp& model, const PlanOptions& options) {
  return resolution_of(model, options) > 0;
}

Plan grid_plan(const Pomdp& model, const PlanOptions& options, Parallelism parallelism) {
  const int quick = resolution_of(model, options);
  GridSolver solver(BeliefGrid(model.num_states(), quick > 0 ? quick : kCoarsest), parallelism);
  return solve_on_grid(model, options, solver);
}

std::optional<Plan> finer_grid_plan(const Plan& plan, const PlanOptions& options,
                                    Parallelism parallelism) {
  const GridBias& coarse = std::get<GridBias>(plan.bias);
  const int num_states = plan.model.num_states();
  const int resolution = 2 * coarse.resolution;
  if (num_entries(plan.model, resolution) > options.max_entries ||
      BeliefGrid::num_points(num_states, resolution) >= BeliefGrid::kMaxPoints) {
    return std::nullopt;
  }
  GridSolver solver(BeliefGrid(num_states, resolution), parallelism);
  solver.reset(
      resample_bias(coarse.values, BeliefGrid(num_states, coarse.resolution), solver.grid()));
  PlanOptions limited = options;
  limited.max_sweeps =
      std::min(options.max_sweeps,
               static_cast<int>(std::min(
                   kMostPasses * options.max_entries / num_entries(plan.model, resolution), 1e9)));
  Plan finer = solve_on_grid(plan.model, limited, solver);
  finer.gain_upper = std::min(finer.gain_upper, plan.gain_upper);  // either is proved
  return finer;
}

Plan discounted_grid_plan(const Pomdp& model, const PlanOptions& options, Parallelism parallelism) {
  const double discount = options.discount.value();
  const int quick = resolution_of(model, options);
  GridSolver solver(BeliefGrid(model.num_states(), quick > 0 ? quick : kCoarsest), parallelism);
  RviOptions rvi = sweeps_of(options);
  rvi.damping = 1.0;                     // the discount contracts
  rvi.span_tolerance *= 1.0 - discount;  // an increment counts 1/(1-γ) times
  solver.mdp().compile(model, parallelism);
  discount_rows(solver.mdp(), discount);
  Plan plan(model);
  plan.iota = options.iota;
  const RviResult& result = solver.iterate(rvi);
  plan.status = result.status;
  plan.message = result.message;
  plan.iterations = result.iterations;
  plan.residual = result.residual;
  std::vector<double> value = result.bias;
  rvi.max_sweeps = 1;
  const double beyond = solver.iterate(rvi).largest_increment / (1.0 - discount);
  for (double& v : value) v += beyond;
  double at_start = 0.0;
  for (const FirstBelief& start : first_beliefs(model)) {
    at_start += start.probability * value_on(solver.grid(), value, start.belief);
  }
  plan.discounted = DiscountedValue{discount, at_start, at_start};
  for (double& v : value) v *= discount;
  // Any function bounds the average from above by its increments, this one too.
  solver.reset(value);
  plan.gain_upper = plan.gain_lower = solver.solve(model, rvi).largest_increment;
  plan.bias = GridBias{solver.grid().resolution(), std::move(value)};
  return plan;
}

EviResult best_member_on_grid(const ConfidenceSet& set, const PlanOptions& options,
                              Parallelism parallelism) {
  const int num_states = set.center.num_states();
  OAS_REQUIRE(num_states <= kMaxGridStates,
              "a radius needs a belief grid; {} states are too many, at most {}", num_states,
              kMaxGridStates);
  int resolution = resolution_of(set.center, options);
  if (resolution == 0) {  // any grid bounds, however coarse
    resolution = 1;
    while (num_entries(set.center, resolution + 1) <= kDefaultEntries) ++resolution;
  }
  EviOptions evi;
  if (num_states > kMaxVertexStates) evi.max_members = kFewMembers;
  evi.rvi.iota = options.iota;
  evi.rvi.span_tolerance = std::max(options.span_tolerance, 1e-5);
  return extended_value_iteration(set, BeliefGrid(num_states, resolution), evi, parallelism);
}

}  // namespace detail

}  // namespace oas
