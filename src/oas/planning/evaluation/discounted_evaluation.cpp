#include <algorithm>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/discounted_runs.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/planner.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

// A discounted plan that plays in its own model and says what its steps are worth.
class DiscountedPlay {
 public:
  explicit DiscountedPlay(const Plan& plan)
      : look_ahead_(plan),
        filter_(plan.model),
        values_(static_cast<std::size_t>(plan.model.num_actions())),
        iota_(plan.iota),
        discount_(plan.discounted->discount) {}

  Choice act(Rng& rng) {
    look_ahead_.action_values(filter_.belief(), values_);
    const auto best = std::max_element(values_.begin(), values_.end());
    last_ =
        explore(static_cast<int>(best - values_.begin()), iota_, look_ahead_.num_actions(), rng);
    mean_ = (1.0 - look_ahead_.num_actions() * iota_) * *best;
    for (const double value : values_) mean_ += iota_ * value;
    return last_;
  }

  void begin(Observation first) { filter_.begin(first); }
  void observe(Observation observation) { filter_.update(last_.action, observation); }

  // The plan's own function at the belief of now: its bias is γ times that.
  [[nodiscard]] double value() const { return look_ahead_.bias(filter_.belief()) / discount_; }
  // What the policy gets from here if it goes on by that function after one step.
  [[nodiscard]] double mean() const { return mean_; }

 private:
  LookAhead look_ahead_;
  BeliefFilter filter_;
  std::vector<double> values_;
  double iota_;
  double discount_;
  double mean_ = 0.0;
  Choice last_;
};

}  // namespace

void certify_discounted(Plan& plan, const SimulationOptions& options, Parallelism parallelism) {
  OAS_REQUIRE(plan.discounted.has_value(), "the plan is for the average reward");
  const double discount = plan.discounted->discount;
  OAS_REQUIRE(discount > 0.0 && discount < 1.0, "discount is {}; it must lie between 0 and 1",
              discount);
  options.validate();
  const auto [length, runs] = detail::discounted_runs(discount, options.steps);
  const double least = plan.model.expected_reward().minCoeff() / (1.0 - discount);
  std::vector<double> sums(runs);
  parallel_for(runs, parallelism, [&, steps = length](std::size_t r) {
    const auto replication = static_cast<std::uint32_t>(r);
    Environment environment(plan.model, Rng({options.seed, replication, Role::environment}));
    Rng rng({options.seed, replication, Role::agent});
    DiscountedPlay agent(plan);
    open_run(environment, agent);
    double sum = agent.value();
    double weight = 1.0;
    play(environment, agent, rng, steps,
         [&](const Choice& /*choice*/, const Environment::Outcome& /*outcome*/) {
           sum += weight * (agent.mean() - agent.value());
           weight *= discount;
         });
    sums[r] = sum + weight * (least - agent.value());
  });
  const GainInterval interval = batch_means_interval(sums, 1, options.level);
  plan.discounted->lower = std::min(std::max(interval.lower_limit, least), plan.discounted->upper);
}

}  // namespace oas
