#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/batch_simulation.hpp"
#include "oas/planning/evaluation/detail/evaluation_checks.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/plan_policy.hpp"

namespace oas {

namespace {

constexpr double kDependent = 0.3;  // lag correlation; 64 independent batches have ± 0.125

// A plan that looks ahead with the true model: what a step is worth beyond what it changes in v.
Plan with_model(const Plan& plan, const Pomdp& truth) {
  Plan other = plan;
  other.model = truth;
  return other;
}

// A plan that plays in the truth and says what its steps are worth.
class JudgedPlan {
 public:
  JudgedPlan(const Pomdp& truth, const Plan& plan, const Pomdp& filter, bool control_variate)
      : own_(plan),
        judge_(with_model(plan, truth)),
        agent_belief_(filter),
        true_belief_(truth),
        rewards_(truth.expected_reward()),
        values_(static_cast<std::size_t>(truth.num_actions())),
        iota_(plan.iota),
        control_variate_(control_variate),
        same_(truth == plan.model && truth == filter) {}

  void begin(Observation first) {
    true_belief_.begin(first);
    agent_belief_.begin(first);
  }

  Choice act(Rng& rng) {
    if (same_ && iota_ == 0.0) {
      const LookAhead::Best best = judge_.best(true_belief_.belief());
      greedy_ = best.action;
      values_[static_cast<std::size_t>(greedy_)] = best.value;
    } else if (same_) {
      judge_.action_values(true_belief_.belief(), values_);
      greedy_ = best(values_);
    } else {
      greedy_ = own_.greedy(agent_belief_.belief());
      if (control_variate_) judge_.action_values(true_belief_.belief(), values_);
    }
    const Choice choice = explore(greedy_, iota_, judge_.num_actions(), rng);
    last_ = choice.action;
    return choice;
  }

  void observe(Observation observation) {
    true_belief_.update(last_, observation);
    if (!same_) agent_belief_.update(last_, observation);
  }

  [[nodiscard]] double worth(const Choice& choice, const Environment::Outcome& outcome) const {
    // The hidden state is known here: its expected reward has less noise than the reward.
    if (!control_variate_) return rewards_(choice.action.value(), outcome.state.value());
    const int num_actions = judge_.num_actions();
    double worth = -judge_.bias(true_belief_.belief());
    if (iota_ == 0.0) return worth + values_[static_cast<std::size_t>(greedy_)];
    for (int a = 0; a < num_actions; ++a) {
      worth += (a == greedy_ ? 1.0 - (num_actions - 1) * iota_ : iota_) * values_[a];
    }
    return worth;
  }

 private:
  static int best(std::span<const double> values) {
    return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
  }

  LookAhead own_;
  LookAhead judge_;
  BeliefFilter agent_belief_;
  BeliefFilter true_belief_;
  Matrix rewards_;
  std::vector<double> values_;  // Q(b, ·) in the truth; without a floor that of greedy_ at least
  double iota_;
  bool control_variate_;
  bool same_;
  int greedy_ = 0;
  Action last_;
};

double student_quantile(double probability, int degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

// Limits from values that do not depend on each other.
void set_limits(std::span<const double> values, GainInterval& interval) {
  const auto n = static_cast<double>(values.size());
  interval.num_batches = static_cast<int>(values.size());
  double squares = 0.0;
  for (const double value : values) squares += std::pow(value - interval.mean, 2);
  interval.standard_error = std::sqrt(squares / (n - 1.0) / n);
  const int degrees = interval.num_batches - 1;
  interval.half_width =
      student_quantile(0.5 + 0.5 * interval.level, degrees) * interval.standard_error;
  const double one_sided = student_quantile(interval.level, degrees) * interval.standard_error;
  interval.lower_limit = interval.mean - one_sided;
  interval.upper_limit = interval.mean + one_sided;
}

}  // namespace

void SimulationOptions::validate() const {
  check_ranges(*this);
  const std::int64_t batches = std::int64_t{replications} * batches_per_replication;
  OAS_REQUIRE(batches >= 2, "{} batches in all; two are needed for a confidence limit", batches);
  OAS_REQUIRE(steps >= static_cast<std::uint64_t>(batches),
              "steps is {}; fewer than the number of batches", steps);
}

std::string GainInterval::brief() const {
  return fmt::format("{:.6g} ± {:.2g} ({:g} % over {} batches, {} steps)", mean, half_width,
                     100.0 * level, num_batches, steps);
}

GainInterval batch_means_interval(std::span<const double> batch_means, int per_replication,
                                  double level) {
  OAS_REQUIRE(batch_means.size() >= 2 && per_replication >= 1, "{} batches, {} in a replication",
              batch_means.size(), per_replication);
  OAS_REQUIRE(level > 0.0 && level < 1.0, "level is {}; it must lie between 0 and 1", level);
  const auto n = static_cast<double>(batch_means.size());
  GainInterval interval;
  interval.level = level;
  interval.mean = std::accumulate(batch_means.begin(), batch_means.end(), 0.0) / n;
  double squares = 0.0;
  double products = 0.0;
  for (std::size_t i = 0; i < batch_means.size(); ++i) {
    const double deviation = batch_means[i] - interval.mean;
    squares += deviation * deviation;
    if (i % static_cast<std::size_t>(per_replication) != 0) {
      products += deviation * (batch_means[i - 1] - interval.mean);
    }
  }
  interval.lag_correlation = squares > 0.0 ? products / squares : 0.0;
  set_limits(batch_means, interval);
  const auto length = static_cast<std::size_t>(per_replication);
  if (interval.lag_correlation < kDependent || batch_means.size() < 2 * length) return interval;
  std::vector<double> replications;
  for (std::size_t first = 0; first < batch_means.size(); first += length) {
    const auto part = batch_means.subspan(first, length);
    replications.push_back(std::accumulate(part.begin(), part.end(), 0.0) /
                           static_cast<double>(length));
  }
  GainInterval wider = interval;
  wider.by_replication = true;
  set_limits(replications, wider);
  return wider.half_width > interval.half_width ? wider : interval;
}

GainInterval evaluate_by_simulation(const Pomdp& truth, const Plan& plan, const Pomdp& filter,
                                    const SimulationOptions& options, Parallelism parallelism) {
  options.validate();
  detail::check_same_sizes(truth, plan, filter);
  return detail::simulate_batches(truth, options, parallelism, [&] {
    return JudgedPlan(truth, plan, filter, options.control_variate);
  });
}

}  // namespace oas
