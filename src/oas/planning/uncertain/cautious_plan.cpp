#include "oas/planning/uncertain/cautious_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/planning/uncertain/posterior_value.hpp"

namespace oas {

namespace {

constexpr std::size_t kFewestDraws = 20;
constexpr double kWorkOfOne = 0.5;  // where it is not said
// Ranks, among the draws that choose, of those that are planned for; the first is the worst.
constexpr std::array<double, 5> kRanks = {0.0, 0.1, 0.25, 0.5, 0.75};

// The chosen draws with their mean dynamics and, where sensors and rewards r(a,s) were drawn, the
// means of these.
Pomdp mean_of(std::span<const Pomdp> draws, std::span<const std::size_t> chosen) {
  PomdpParts parts = draws[chosen.front()].parts();
  std::vector<double> values(parts.transition->values().size(), 0.0);
  std::vector<double> sensors(parts.sensors.values().size(), 0.0);
  std::vector<double> rewards(parts.reward.values().size(), 0.0);
  const auto share = 1.0 / static_cast<double>(chosen.size());
  bool drawn_sensors = false;
  bool drawn_rewards = false;
  for (const std::size_t i : chosen) {
    const Pomdp& draw = draws[i];
    for (std::size_t e = 0; e < values.size(); ++e) {
      values[e] += draw.transition().values()[e] * share;
    }
    for (std::size_t e = 0; e < sensors.size(); ++e) {
      sensors[e] += draw.sensors().values()[e] * share;
    }
    drawn_sensors = drawn_sensors || !(draw.sensors() == parts.sensors);
    drawn_rewards = drawn_rewards || !(draw.reward() == parts.reward);
    if (draw.reward().kind() != Reward::Kind::by_action_state) continue;
    for (std::size_t r = 0; r < rewards.size(); ++r)
      rewards[r] += draw.reward().values()[r] * share;
  }
  parts.transition = TransitionModel(parts.transition->num_states(),
                                     parts.transition->num_actions(), std::move(values));
  if (drawn_sensors) {
    const Pomdp& one = draws[chosen.front()];
    parts.sensors = ObservationModel(one.num_states(), one.num_actions(), one.num_observations(),
                                     std::move(sensors));
    if (one.reading_first() && one.first_is_common()) parts.first_observation.reset();
  }
  if (drawn_rewards) parts.reward = Reward::by_action_state(std::move(rewards));
  return Pomdp(std::move(parts));
}

// Plans tried one by one.
class CautiousSearch {
 public:
  CautiousSearch(const Pomdp& model, std::span<const Pomdp> draws, double share,
                 const PlanOptions& options, Parallelism parallelism)
      : model_(model), share_(share), options_(options), parallelism_(parallelism) {
    options_.work = options.work.value_or(kWorkOfOne);
    for (std::size_t i = 0; i < draws.size(); ++i) {
      (i % 2 == 0 ? choosing_ : judging_).push_back(draws[i]);
    }
  }

  CautiousPlan run() {
    const std::vector<double> gains = attempt(model_, "the estimate");
    const CautiousCandidate plain = judge(best_->chosen, best_->controller);
    std::vector<std::size_t> order(gains.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return gains[i] < gains[j]; });
    const auto worst = std::max<std::size_t>(
        1, static_cast<std::size_t>(share_ * static_cast<double>(order.size())));
    attempt(mean_of(choosing_, std::span(order).first(worst)), "the mean of the worst draws");
    for (const double rank : kRanks) {
      const auto at = static_cast<std::size_t>(rank * static_cast<double>(order.size()));
      attempt(choosing_[order[at]],
              fmt::format("a draw, number {} from the worst of {}", at + 1, order.size()));
    }
    consider(myopic_plan(model_, options_.iota, default_resolution(model_)),
             "the next reward alone");
    best_->chosen = judge(best_->chosen, best_->controller);
    best_->plain = plain;
    best_->candidates = tried_;
    return std::move(*best_);
  }

 private:
  std::vector<double> attempt(const Pomdp& model, const std::string& name) {
    return consider(make_plan(model, options_, parallelism_), name);
  }

  std::vector<double> consider(Plan plan, const std::string& name) {
    ++tried_;
    Controller controller = acting_controller(plan).controller;
    const PosteriorValue value = evaluate_over(choosing_, controller, parallelism_);
    const double worst = mean_of_least(value.gains, share_);
    if (!best_ || worst > best_->chosen.chosen_by) {
      best_.emplace(CautiousPlan{
          std::move(plan), std::move(controller), share_, {name, worst, 0.0, 0.0}, {}, 0});
    }
    return value.gains;
  }

  [[nodiscard]] CautiousCandidate judge(CautiousCandidate candidate,
                                        const Controller& controller) const {
    const PosteriorValue value = evaluate_over(judging_, controller, parallelism_);
    candidate.judged = mean_of_least(value.gains, share_);
    candidate.mean = std::accumulate(value.gains.begin(), value.gains.end(), 0.0) /
                     static_cast<double>(value.gains.size());
    return candidate;
  }

  const Pomdp& model_;
  double share_;
  PlanOptions options_;
  Parallelism parallelism_;
  std::vector<Pomdp> choosing_;
  std::vector<Pomdp> judging_;
  std::optional<CautiousPlan> best_;
  int tried_ = 0;
};

}  // namespace

CautiousPlan cautious_plan(const Pomdp& model, std::span<const Pomdp> draws, double share,
                           const PlanOptions& options, Parallelism parallelism) {
  OAS_REQUIRE(share > 0.0 && share < 1.0,
              "the share of the worst draws is {}; it must lie strictly between 0 and 1", share);
  OAS_REQUIRE(draws.size() >= kFewestDraws,
              "{} draws of the transition model; half of them choose and half of them judge, which "
              "needs at least {}",
              draws.size(), kFewestDraws);
  options.validate(model);
  options.require_average("a cautious plan is for the average reward");
  return CautiousSearch(model, draws, share, options, parallelism).run();
}

}  // namespace oas
