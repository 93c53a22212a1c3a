#include "oas/planning/grid/detail/grid_planner.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "oas/belief/first_beliefs.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr int kCoarsest = 6;
constexpr double kDefaultEntries = 4e6;
constexpr int kFewMembers = 10;        // solved in search of an optimistic one, many states
constexpr double kMostPasses = 100.0;  // of the sweeps of one refinement, over the largest grid
constexpr double kFirstRound = 3e8;    // products of the sweeps before bounds are compared
constexpr double kMostWork = 4e9;      // of all rounds, where nobody asks for this grid
constexpr int kRoundSweeps = 512;      // of a round
constexpr double kMet = 1e-5;          // of the range of rewards: bounds so near have met
constexpr double kStill = 0.02;        // of their distance: bounds that move less stand still
constexpr std::uint64_t kJudgingSteps = 20'000;
constexpr double kGridDust = 1e-14;  // probabilities that are the rounding of others
constexpr double kTiny = 1e-9;       // of a model: too near to those

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

Plan plan_of(const Pomdp& model, const PlanOptions& options, const GridSolver& solver) {
  const RviResult& result = solver.result();
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

// The grid points that the start may lead to, whatever is done, ascending.
std::vector<std::size_t> points_from_start(const Pomdp& model, const BeliefMdp& mdp) {
  std::vector<char> reached(mdp.grid().size(), 0);
  std::vector<std::size_t> open;
  const auto reach = [&](std::size_t point, double probability) {
    if (probability <= kGridDust || reached[point] != 0) return;
    reached[point] = 1;
    open.push_back(point);
  };
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  for (const FirstBelief& start : first_beliefs(model)) {
    const int count = mdp.grid().interpolate(start.belief, indices.data(), weights.data());
    for (int k = 0; k < count; ++k) reach(indices[k], weights[k]);
  }
  const auto actions = static_cast<std::size_t>(mdp.num_actions());
  while (!open.empty()) {
    const std::size_t point = open.back();
    open.pop_back();
    const BeliefMdp::Block& block = mdp.block(point / BeliefMdp::kBlockPoints);
    const std::size_t row = point % BeliefMdp::kBlockPoints * actions;
    for (std::uint32_t k = block.offsets[row]; k < block.offsets[row + actions]; ++k) {
      reach(block.targets[k], block.probabilities[k]);
    }
  }
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] != 0) points.push_back(i);
  }
  return points;
}

// Whether the model itself has probabilities that rounding might be taken for, or that it might
// hide: then who leads where cannot be told on a grid.
bool has_tiny_numbers(const Pomdp& model) {
  const auto tiny = [](double p) { return p > 0.0 && p < kTiny; };
  const auto& start = model.start();
  return model.transition().is_listed() || std::any_of(start.begin(), start.end(), tiny) ||
         std::ranges::any_of(model.transition().values(), tiny) ||
         std::ranges::any_of(model.sensors().values(), tiny);
}

// Where increments stay apart, those over what the start leads to bound the gain from there: n-step
// values at these points depend on each other and on nothing else.
void look_from_start(Plan& plan, const PlanOptions& options, const GridSolver& solver) {
  if (has_tiny_numbers(plan.model)) return;
  const std::vector<std::size_t> points = points_from_start(plan.model, solver.mdp());
  if (points.size() == solver.grid().size()) return;
  const std::vector<double>& v = solver.result().bias;
  std::vector<double> q(static_cast<std::size_t>(plan.model.num_actions()));
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const std::size_t point : points) {
    solver.mdp().action_values(point, v, q);
    const double sum = std::accumulate(q.begin(), q.end(), 0.0);
    const double increment =
        (1.0 - plan.model.num_actions() * options.iota) * *std::max_element(q.begin(), q.end()) +
        options.iota * sum - v[point];
    low = std::min(low, increment);
    high = std::max(high, increment);
  }
  plan.gain_upper = std::min(plan.gain_upper, high);
  if (high - low > options.span_tolerance) return;
  plan.status = SolveStatus::converged;
  plan.residual = high - low;
  plan.message = fmt::format(
      "the span over the {} points that the start leads to fell to the tolerance; elsewhere the "
      "gain may be larger",
      points.size());
}

// Mean reward of a short simulation, by luck that is not the certificate's.
double judged(Plan plan, const PlanOptions& options, Parallelism parallelism) {
  SimulationOptions judge = options.simulation;
  judge.steps = std::min(judge.steps, kJudgingSteps);
  judge.burn_in = std::min(judge.burn_in, judge.steps / 8);
  judge.seed = options.simulation.seed + 1;
  certify(plan, judge, parallelism);
  return plan.certificate.mean;
}

// Sweeps, and where they do not settle soon on a large grid, as where next to nothing is forgotten
// and next to nothing told, more sweeps as long as a bound moves: the upper one may be there long
// before the span falls.
Plan solve_in_rounds(const PlanOptions& options, const Pomdp& model, GridSolver& solver,
                     Parallelism parallelism) {
  solver.mdp().compile(model, parallelism);
  const auto entries = static_cast<double>(solver.mdp().num_entries());
  const double most = options.resolution > 0 ? 1e300 : kMostWork;
  const Matrix rewards = model.expected_reward();
  const double met = kMet * (rewards.maxCoeff() - rewards.minCoeff());
  double round = std::max<double>(kRoundSweeps, kFirstRound / entries);
  double upper = std::numeric_limits<double>::infinity();
  double lower = -upper;
  for (int done = 0;; round *= 2.0) {
    RviOptions rvi = sweeps_of(options);
    rvi.max_sweeps =
        static_cast<int>(std::min<double>(round, static_cast<double>(options.max_sweeps - done)));
    done += solver.iterate(rvi).iterations;
    Plan plan = plan_of(model, options, solver);
    plan.iterations = done;
    if (plan.status != SolveStatus::converged) look_from_start(plan, options, solver);
    plan.gain_upper = std::min(plan.gain_upper, upper);
    if (plan.status != SolveStatus::sweep_limit || done >= options.max_sweeps) return plan;
    const double earned = judged(plan, options, parallelism);
    const double still = kStill * (plan.gain_upper - earned);
    const bool moved = upper - plan.gain_upper > still || earned - lower > still;
    if (plan.gain_upper - earned <= met) {
      plan.status = SolveStatus::converged;
      plan.message = fmt::format("the bounds have met after {} sweeps, before the span fell", done);
    } else if (!moved) {
      plan.message = fmt::format(
          "neither bound has moved in the last {} of {} sweeps, and the span stays at {:.3g}: the "
          "belief moves too slowly, or the best gain depends on the start",
          rvi.max_sweeps, done, plan.residual);
    } else if (entries * (done + 2.0 * round) > most) {
      plan.message = fmt::format(
          "the span is {:.3g} after {} sweeps: the belief moves too slowly for more to pay",
          plan.residual, done);
    } else {
      upper = plan.gain_upper;
      lower = std::max(lower, earned);
      continue;
    }
    return plan;
  }
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
  return solve_in_rounds(options, model, solver, parallelism);
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
  solver.solve(plan.model, sweeps_of(limited));
  Plan finer = plan_of(plan.model, limited, solver);
  if (finer.status != SolveStatus::converged) look_from_start(finer, options, solver);
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
