#include "oas/planning/points/point_based.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/planning/points/detail/informed_sweep.hpp"
#include "oas/planning/points/detail/point_solver.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

constexpr int kPoolPerBelief = 8;
constexpr int kManyStates = 1000;
constexpr double kSweepWork = 2e9;  // products
constexpr double kFewestSweeps = 100.0;
constexpr double kBackupWork = 2e9;
constexpr double kFewestBackups = 20.0;

// Every second belief that a run of `agent` reaches, as columns.
template <Agent Player>
void collect(const Pomdp& model, Player& agent, std::uint64_t seed, std::uint32_t replication,
             Eigen::Ref<Eigen::MatrixXd> out) {
  Environment environment(model, Rng({seed, replication, Role::environment}));
  Rng rng({seed, replication, Role::policy});
  BeliefFilter filter(model);
  open_run(environment, agent);
  filter.reset(environment.start());
  for (Eigen::Index i = 0; i < out.cols(); ++i) {
    out.col(i) = VectorView(filter.belief().data(), model.num_states());
    play(environment, agent, rng, 2,
         [&](const Choice& choice, const Environment::Outcome& outcome) {
           filter.update(choice.action, outcome.observation);
         });
  }
}

// What goes over all states and observations of what is not 0 in T, once.
double products_of_sweep(const Pomdp& model) {
  return static_cast<double>(model.transition().num_entries()) * model.num_observations();
}

// Long before the informed bound has settled in a chain of thousands of states, more sweeps cost
// more than what they tell is worth.
int affordable_sweeps(const Pomdp& model) {
  if (model.num_states() <= kManyStates) return std::numeric_limits<int>::max();
  const double cost = products_of_sweep(model) * model.num_actions();
  return static_cast<int>(std::clamp(kSweepWork / cost, kFewestSweeps, 1e9));
}

// With thousands of states fewer beliefs and backups, so that a round takes seconds and its beliefs
// the memory of those of a thousand states.
PointOptions affordable(const Pomdp& model, PointOptions options) {
  if (model.num_states() <= kManyStates) return options;
  const int beliefs = options.num_beliefs * kManyStates / model.num_states();
  options.num_beliefs = std::clamp(beliefs, 1, options.num_beliefs);
  const double cost = products_of_sweep(model) * options.num_beliefs;
  options.max_sweeps =
      std::min(options.max_sweeps, static_cast<int>(std::max(kBackupWork / cost, kFewestBackups)));
  return options;
}

void set_vectors(Plan& plan, const Eigen::MatrixXd& vectors) {
  plan.bias = VectorBias{{vectors.data(), vectors.data() + vectors.size()}};
}

}  // namespace

void PointOptions::validate() const {
  OAS_REQUIRE(num_beliefs >= 1, "num_beliefs is {}; it must be at least 1", num_beliefs);
  OAS_REQUIRE(num_vectors >= 1, "num_vectors is {}; it must be at least 1", num_vectors);
  OAS_REQUIRE(rounds >= 1, "rounds is {}; it must be at least 1", rounds);
  OAS_REQUIRE(max_sweeps >= 1, "max_sweeps is {}; it must be at least 1", max_sweeps);
  OAS_REQUIRE(std::isfinite(span_tolerance) && span_tolerance > 0.0,
              "span_tolerance is {}; it must be positive", span_tolerance);
  OAS_REQUIRE(discount > 0.0 && discount <= 1.0, "discount is {}; it must lie in (0, 1]", discount);
}

double fast_informed_bound(const Pomdp& model, double iota, double tolerance, int max_sweeps) {
  max_sweeps = std::min(max_sweeps, affordable_sweeps(model));
  detail::InformedSweep sweep_over(model, iota);
  const Eigen::MatrixXd rewards = model.expected_reward().transpose();  // S×A
  Eigen::MatrixXd alpha = Eigen::MatrixXd::Zero(model.num_states(), model.num_actions());
  double bound = std::numeric_limits<double>::infinity();
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    check_interrupted();
    Eigen::MatrixXd next = rewards;
    sweep_over.add(alpha, next);
    const Eigen::MatrixXd increment = next - alpha;
    bound = std::min(bound, increment.maxCoeff());  // each is a bound
    if (increment.maxCoeff() - increment.minCoeff() <= tolerance) break;
    alpha += 0.5 * increment;
    alpha.array() -= alpha(0, 0);
  }
  return bound;
}

Plan point_based_plan(const Pomdp& model, double iota, const PointOptions& asked) {
  asked.validate();
  const PointOptions options = affordable(model, asked);
  check_floor(iota, model.num_actions());
  Plan plan(model);
  plan.iota = iota;
  plan.gain_upper = plan.gain_lower = fast_informed_bound(model, iota);
  detail::PointSolver solver(model, iota, options);
  Eigen::MatrixXd pool(model.num_states(), 2 * kPoolPerBelief * options.num_beliefs);
  const Eigen::Index half = pool.cols() / 2;
  detail::PointSolver::Outcome outcome;
  for (int round = 0; round < options.rounds; ++round) {
    UniformPolicy uniform(model.num_actions());
    const auto replication = static_cast<std::uint32_t>(2 * round);
    collect(model, uniform, options.seed, replication, pool.leftCols(half));
    set_vectors(plan, solver.vectors());
    PlanPolicy policy(plan);
    collect(model, policy, options.seed, replication + 1, pool.rightCols(half));
    solver.set_beliefs(detail::spread_out(pool, options.num_beliefs));
    outcome = solver.solve();
    plan.iterations += outcome.backups;
  }
  set_vectors(plan, solver.vectors());
  plan.residual = outcome.span;
  plan.status = outcome.converged ? SolveStatus::converged : SolveStatus::sweep_limit;
  // The increments at these beliefs bound nothing: what the policy earns is for certify() to say.
  plan.message = fmt::format("the span over the beliefs {} {:.3g}",
                             outcome.converged ? "fell to" : "settled at", outcome.span);
  return plan;
}

}  // namespace oas
