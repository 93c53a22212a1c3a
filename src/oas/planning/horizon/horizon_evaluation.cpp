#include "oas/planning/horizon/horizon_evaluation.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/planning/horizon/detail/branches.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

constexpr std::uint64_t kFewestEpisodes = 8;

const HorizonPolicy& policy_for(const Pomdp& truth, const Plan& plan) {
  OAS_REQUIRE(plan.horizon && plan.horizon_policy(), "the plan has no horizon");
  static_cast<void>(truth.transition());  // throws when unknown
  plan.horizon_policy()->check_fits(truth);
  return *plan.horizon_policy();
}

// What each node of a stage is worth in each state: a column a node.
Eigen::MatrixXd stage_values(const HorizonStage& stage, const detail::Branches& branches,
                             const Matrix& rewards, double discount,
                             const Eigen::MatrixXd& following) {
  Eigen::MatrixXd values(branches.num_states(), stage.num_nodes());
  Eigen::MatrixXd future(branches.num_states(), branches.num_observations());
  for (int k = 0; k < stage.num_nodes(); ++k) {
    const int action = stage.actions[static_cast<std::size_t>(k)];
    values.col(k) = rewards.row(action).transpose();
    if (stage.next.empty()) continue;
    const int* next = stage.next.data() + static_cast<std::ptrdiff_t>(k) * future.cols();
    for (Eigen::Index o = 0; o < future.cols(); ++o) future.col(o) = following.col(next[o]);
    values.col(k) += discount * branches.expect(action, future);
  }
  return values;
}

// The mean over the states and first readings in which runs start.
double value_at_start(const Pomdp& truth, const HorizonPolicy& policy,
                      const Eigen::MatrixXd& values) {
  double sum = 0.0;
  for (State s{0}; s < truth.num_states(); ++s) {
    const double at = truth.start()[static_cast<std::size_t>(s)];
    if (!truth.reading_first() || policy.first.empty()) {
      sum += at * values(s.value(), policy.start);
      continue;
    }
    for (Observation o{0}; o < truth.num_observations(); ++o) {
      sum += at * (*truth.first_observation())(Action{0}, s, o) *
             values(s.value(), policy.first_node(o));
    }
  }
  return sum;
}

}  // namespace

double horizon_value(const Pomdp& truth, const Plan& plan) {
  const HorizonPolicy& policy = policy_for(truth, plan);
  const detail::Branches branches(truth);
  const Matrix rewards = truth.expected_reward();
  Eigen::MatrixXd values;
  for (auto stage = policy.stages.rbegin(); stage != policy.stages.rend(); ++stage) {
    values = stage_values(*stage, branches, rewards, plan.horizon->discount, values);
  }
  return value_at_start(truth, policy, values);
}

std::vector<double> horizon_values(std::span<const Pomdp> models, const Plan& plan,
                                   Parallelism parallelism) {
  std::vector<double> values(models.size());
  parallel_for(models.size(), parallelism,
               [&](std::size_t i) { values[i] = horizon_value(models[i], plan); });
  return values;
}

GainInterval simulate_horizon(const Pomdp& truth, const Plan& plan,
                              const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  const HorizonAgent fresh(policy_for(truth, plan));
  const auto steps = static_cast<std::uint64_t>(plan.horizon->steps);
  const Matrix rewards = truth.expected_reward();
  std::vector<double> sums(std::max(options.steps / steps, kFewestEpisodes));
  parallel_for(sums.size(), parallelism, [&](std::size_t i) {
    const auto replication = static_cast<std::uint32_t>(i);
    Environment environment(truth, Rng({options.seed, replication, Role::environment}));
    Rng rng({options.seed, replication, Role::agent});
    HorizonAgent agent = fresh;
    double weight = 1.0;
    play(environment, agent, rng, steps,
         [&](const Choice& choice, const Environment::Outcome& outcome) {
           sums[i] += weight * rewards(choice.action.value(), outcome.state.value());
           weight *= plan.horizon->discount;
         });
  });
  GainInterval interval = batch_means_interval(sums, 1, options.level);
  interval.steps = steps * sums.size();
  interval.seed = options.seed;
  return interval;
}

}  // namespace oas
