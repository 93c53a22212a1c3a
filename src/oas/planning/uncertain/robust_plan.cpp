#include "oas/planning/uncertain/robust_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/planning/policies/plan_export.hpp"

namespace oas {

namespace {

constexpr int kMostRounds = 5;
constexpr double kWorkPerPlan = 0.5;   // where it is not said
constexpr double kWorthARound = 1e-6;  // of the rewards

TransitionModel half_way(const TransitionModel& x, const TransitionModel& y) {
  std::vector<double> values(x.values().begin(), x.values().end());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 * (values[i] + y.values()[i]);
  return {x.num_states(), x.num_actions(), std::move(values)};
}

// Tries policies and keeps the one with the largest promise.
class PromiseSearch {
 public:
  PromiseSearch(const ConfidenceSet& set, const PlanOptions& options, Parallelism parallelism)
      : set_(set), options_(options), parallelism_(parallelism) {
    options_.work = options.work.value_or(kWorkPerPlan);
    best_.worst.promise = -std::numeric_limits<double>::infinity();
  }

  RobustPlan run() {
    attempt(set_.center.transition(), "the model itself");
    best_.plain_promise = best_.worst.promise;
    best_.plain_center_gain = best_.center_gain;
    for (int a = 0; a < set_.center.num_actions(); ++a) {
      PolicyGraph graph;
      graph.num_observations = set_.center.num_observations();
      graph.actions = {a};
      graph.next.assign(static_cast<std::size_t>(graph.num_observations), 0);
      keep(std::move(graph), "always " + set_.center.actions()[a]);
    }
    const double worth = kWorthARound * set_.center.expected_reward().cwiseAbs().maxCoeff();
    for (int round = 0; round < kMostRounds; ++round) {
      const double before = best_.worst.promise;
      const TransitionModel worst = best_.worst.member;
      attempt(worst, "a worst case");
      attempt(half_way(set_.center.transition(), worst), "half the way to a worst case");
      if (!(best_.worst.promise > before + worth)) break;
    }
    return best_;
  }

 private:
  void attempt(const TransitionModel& transition, const std::string& name) {
    const Plan plan = make_plan(set_.center.with_transition(transition), options_, parallelism_);
    keep(export_graph(plan).graph, name);
  }

  void keep(PolicyGraph graph, const std::string& name) {
    const Controller controller = controller_of(graph, 0, set_.center.num_actions());
    ++best_.candidates;
    WorstCase worst = worst_case(set_, controller);
    if (!(worst.promise > best_.worst.promise)) return;
    best_.graph = std::move(graph);
    best_.worst = std::move(worst);
    best_.center_gain = evaluate_controller(set_.center, controller).gain;
    best_.made_for = name;
  }

  const ConfidenceSet& set_;
  PlanOptions options_;
  Parallelism parallelism_;
  RobustPlan best_;
};

}  // namespace

RobustPlan robust_plan(const ConfidenceSet& set, const PlanOptions& options,
                       Parallelism parallelism) {
  set.validate();
  options.validate(set.center);
  OAS_REQUIRE(!(options.iota > 0.0), "iota is {}: a policy graph with a promise has no floor",
              options.iota);
  options.require_average("a promise is about the average reward");
  return PromiseSearch(set, options, parallelism).run();
}

}  // namespace oas
