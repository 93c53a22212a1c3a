#include "oas/planning/oracles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/belief/joint_kernel.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

// lim ((I + P)/2)^n by repeated squaring: the Cesàro limit of P, also with several classes or
// periods. Rows are normalised so that rounding does not grow.
Eigen::MatrixXd limit_of(const Eigen::MatrixXd& chain) {
  Eigen::MatrixXd power = 0.5 * (chain + Eigen::MatrixXd::Identity(chain.rows(), chain.cols()));
  for (int k = 0; k < 50; ++k) {
    Eigen::MatrixXd next = power * power;
    for (Eigen::Index i = 0; i < next.rows(); ++i) next.row(i) /= next.row(i).sum();
    const double change = (next - power).lpNorm<Eigen::Infinity>();
    power = std::move(next);
    if (change < 1e-15) break;
  }
  return power;
}

// Evaluates memoryless policies of one model.
class Memoryless {
 public:
  Memoryless(const Pomdp& model, double iota)
      : num_states_(model.num_states()),
        num_actions_(model.num_actions()),
        num_observations_(model.num_observations()),
        iota_(iota),
        kernel_(joint_kernel(model, model.transition())),
        rewards_(model.expected_reward()),
        start_(model.start()) {}

  [[nodiscard]] int contexts() const { return num_actions_ * num_observations_; }

  double gain(std::span<const int> greedy) {
    ++evaluated;
    const int n = num_states_;
    Eigen::MatrixXd chain = Eigen::MatrixXd::Zero(num_actions_ * n, num_actions_ * n);
    const double* kernel = kernel_.data();
    for (int context = 0; context < contexts(); ++context, kernel += n * n) {
      const MatrixView step(kernel, n, n);
      const int from = context / num_observations_ * n;
      chain.block(from, greedy[context] * n, n, n) += (1.0 - num_actions_ * iota_) * step;
      if (!(iota_ > 0.0)) continue;
      for (int a = 0; a < num_actions_; ++a) chain.block(from, a * n, n, n) += iota_ * step;
    }
    const Eigen::MatrixXd limit = limit_of(chain);
    double value = 0.0;
    for (int a = 0; a < num_actions_; ++a) {
      for (int s = 0; s < n; ++s) {
        const VectorView reward(rewards_.data(), num_actions_ * n);
        value += start_[s] / num_actions_ * limit.row(a * n + s).dot(reward);
      }
    }
    return value;
  }

  long evaluated = 0;

 private:
  int num_states_;
  int num_actions_;
  int num_observations_;
  double iota_;
  std::vector<double> kernel_;
  Matrix rewards_;
  std::vector<double> start_;
};

void try_all(Memoryless& chain, int num_actions, MemorylessResult& best) {
  std::vector<int> greedy(static_cast<std::size_t>(chain.contexts()), 0);
  while (true) {
    const double gain = chain.gain(greedy);
    if (gain > best.gain) {
      best.gain = gain;
      best.greedy = greedy;
    }
    std::size_t digit = 0;
    while (digit < greedy.size() && ++greedy[digit] == num_actions) greedy[digit++] = 0;
    if (digit == greedy.size()) return;
  }
}

// Changes one context at a time while that helps.
void climb(Memoryless& chain, int num_actions, std::vector<int> greedy, MemorylessResult& best) {
  double gain = chain.gain(greedy);
  for (bool improved = true; improved;) {
    improved = false;
    for (int& action : greedy) {
      const int kept = action;
      int chosen = kept;
      for (int other = 0; other < num_actions; ++other) {
        if (other == kept) continue;
        action = other;
        const double changed = chain.gain(greedy);
        if (changed > gain + 1e-12) {
          gain = changed;
          chosen = other;
          improved = true;
        }
      }
      action = chosen;
    }
  }
  if (gain > best.gain) {
    best.gain = gain;
    best.greedy = std::move(greedy);
  }
}

OracleRow bracket(std::string name, const Plan& plan) {
  return {std::move(name), plan.gain_lower, plan.gain_upper, plan.message};
}

}  // namespace

void MemorylessOptions::validate(int num_actions) const {
  check_floor(iota, num_actions);
  OAS_REQUIRE(max_policies >= 0.0, "max_policies is {}; it must not be negative", max_policies);
  OAS_REQUIRE(restarts >= 0, "restarts is {}; it must not be negative", restarts);
}

MdpGain fully_observed_gain(const Pomdp& model, double iota, double span_tolerance,
                            int max_sweeps) {
  check_floor(iota, model.num_actions());
  const int num_actions = model.num_actions();
  const Matrix rewards = model.expected_reward();
  MdpGain result;
  result.upper = std::numeric_limits<double>::infinity();
  Vector v = Vector::Zero(model.num_states());
  for (int sweep = 1; sweep <= max_sweeps; ++sweep) {
    Matrix q(num_actions, model.num_states());
    for (int a = 0; a < num_actions; ++a) {
      q.row(a) = rewards.row(a) + model.transition().mean_next(Action{a}, v).transpose();
    }
    const Vector increment =
        ((1.0 - num_actions * iota) * q.colwise().maxCoeff() + iota * q.colwise().sum())
            .transpose() -
        v;
    result.iterations = sweep;
    result.upper = increment.maxCoeff();
    result.gain = 0.5 * (result.upper + increment.minCoeff());
    if (result.upper - increment.minCoeff() <= span_tolerance) {
      result.status = SolveStatus::converged;
      return result;
    }
    v += 0.5 * increment;
    v.array() -= v(0);
  }
  result.status = SolveStatus::sweep_limit;
  return result;
}

double uniform_gain(const Pomdp& model) {
  const int n = model.num_states();
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(n, n);
  for (int a = 0; a < model.num_actions(); ++a) mean += model.transition().matrix(Action{a});
  const Vector reward = model.expected_reward().colwise().mean().transpose();
  return (limit_of(mean / model.num_actions()) * reward).dot(VectorView(model.start().data(), n));
}

Plan myopic_plan(const Pomdp& model, double iota, int resolution) {
  Plan plan(model);
  plan.iota = iota;
  const double bound = model.expected_reward().maxCoeff();
  plan.gain_lower = model.expected_reward().minCoeff();
  plan.gain_upper = bound;
  plan.message = "greedy on the next reward";
  if (resolution > 0) {
    const std::size_t points = BeliefGrid(model.num_states(), resolution).size();
    plan.bias = GridBias{resolution, std::vector<double>(points, 0.0)};
  } else {
    plan.bias = VectorBias{std::vector<double>(static_cast<std::size_t>(model.num_states()), 0.0)};
  }
  return plan;
}

double memoryless_gain(const Pomdp& model, std::span<const int> greedy, double iota) {
  check_floor(iota, model.num_actions());
  Memoryless chain(model, iota);
  OAS_REQUIRE(static_cast<int>(greedy.size()) == chain.contexts(),
              "{} choices for {} pairs of action and observation", greedy.size(), chain.contexts());
  for (const int action : greedy) {
    OAS_REQUIRE(action >= 0 && action < model.num_actions(), "action {} of {}", action,
                model.num_actions());
  }
  return chain.gain(greedy);
}

MemorylessResult best_memoryless(const Pomdp& model, const MemorylessOptions& options) {
  options.validate(model.num_actions());
  const int num_actions = model.num_actions();
  Memoryless chain(model, options.iota);
  MemorylessResult best;
  best.gain = -std::numeric_limits<double>::infinity();
  best.exhaustive = std::pow(num_actions, chain.contexts()) <= options.max_policies;
  if (best.exhaustive) {
    try_all(chain, num_actions, best);
  } else {
    const auto contexts = static_cast<std::size_t>(chain.contexts());
    for (int a = 0; a < num_actions; ++a) {
      climb(chain, num_actions, std::vector<int>(contexts, a), best);
    }
    const MemorylessPolicy myopic(model, model.transition(), options.iota);
    std::vector<int> start(contexts);
    for (std::size_t c = 0; c < contexts; ++c) {
      const auto context = static_cast<int>(c);
      start[c] = myopic.greedy(Action{context / model.num_observations()},
                               Observation{context % model.num_observations()});
    }
    climb(chain, num_actions, start, best);
    Rng rng({options.seed, 0, Role::policy});
    for (int i = 0; i < options.restarts; ++i) {
      for (int& action : start) {
        action = static_cast<int>(rng.below(static_cast<std::uint32_t>(num_actions)));
      }
      climb(chain, num_actions, start, best);
    }
  }
  best.evaluated = chain.evaluated;
  return best;
}

std::vector<OracleRow> all_oracles(const Pomdp& model, const PlanOptions& options,
                                   Parallelism parallelism) {
  std::vector<OracleRow> rows;
  const double uniform = uniform_gain(model);
  rows.push_back({"uniform", uniform, uniform, "exact"});
  const Plan myopic = myopic_plan(model, options.iota, default_resolution(model));
  const GainInterval interval =
      evaluate_by_simulation(model, myopic, model, options.simulation, parallelism);
  rows.push_back({"myopic", interval.mean - interval.half_width,
                  interval.mean + interval.half_width,
                  fmt::format("simulated, {:g} %", 100.0 * interval.level)});
  MemorylessOptions memoryless;
  memoryless.iota = options.iota;
  const double work = std::pow(model.num_actions() * model.num_states(), 3.0) *
                      model.num_actions() * model.num_observations() * model.num_actions();
  if (work < 1e9) {
    const MemorylessResult best = best_memoryless(model, memoryless);
    rows.push_back({"memoryless", best.gain, best.gain,
                    best.exhaustive ? "exact" : "best found, a lower bound"});
  }
  if (options.iota > 0.0) {
    rows.push_back(bracket("best with floor", make_plan(model, options, parallelism)));
  }
  PlanOptions free = options;
  free.iota = 0.0;
  rows.push_back(bracket(options.iota > 0.0 ? "best without floor" : "best",
                         make_plan(model, free, parallelism)));
  rows[1].upper = std::min(rows[1].upper, rows.back().upper);  // that one is proved
  rows[1].lower = std::min(rows[1].lower, rows[1].upper);
  const MdpGain seen = fully_observed_gain(model);
  rows.push_back({"state seen", 2.0 * seen.gain - seen.upper, seen.upper, "fully observed MDP"});
  return rows;
}

}  // namespace oas
