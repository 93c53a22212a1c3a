#include <algorithm>
#include <array>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/points/detail/point_solver.hpp"
#include "oas/planning/policies/detail/follow_plan.hpp"
#include "oas/planning/policies/plan_export.hpp"

namespace oas {

namespace {

constexpr std::array<double, 11> kTolerances = {1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2,
                                                3e-2, 0.1,  0.3,  1.0,  2.1};

// Whether an observation comes under an action in some state.
bool can_come(const Pomdp& model, Action action, int observation) {
  return (model.sensors().matrix(action).row(observation).array() > 0.0).any();
}

// The graph of the beliefs that a plan can reach, those nearer than `tolerance` merged.
class GraphBuilder {
 public:
  GraphBuilder(const Plan& plan, double tolerance, int most)
      : model_(plan.model),
        look_ahead_(plan),
        filter_(plan.model),
        tolerance_(tolerance),
        most_(most) {}

  // False when there are more nodes than allowed.
  bool build() {
    graph_.num_observations = model_.num_observations();
    node_of(Vector(VectorView(model_.start().data(), model_.num_states())));
    for (std::size_t n = 0; n < beliefs_.size(); ++n) {
      if (beliefs_.size() > static_cast<std::size_t>(most_)) return false;
      const Vector belief = beliefs_[n];
      const Action a{look_ahead_.greedy({belief.data(), belief.data() + belief.size()})};
      graph_.actions.push_back(a.value());
      for (int o = 0; o < model_.num_observations(); ++o) {
        graph_.next.push_back(can_come(model_, a, o) ? successor(belief, a, Observation{o})
                                                     : PolicyGraph::kNone);
      }
    }
    return true;
  }

  [[nodiscard]] const PolicyGraph& graph() const { return graph_; }

 private:
  int successor(const Vector& belief, Action a, Observation o) {
    filter_.reset(Belief({belief.begin(), belief.end()}));
    filter_.update(a, o);  // an impossible one is skipped
    const auto next = filter_.belief();
    return node_of(VectorView(next.data(), model_.num_states()));
  }

  int node_of(const Vector& belief) {
    int nearest = -1;
    double distance = tolerance_;
    for (std::size_t n = 0; n < beliefs_.size(); ++n) {
      const double other = (beliefs_[n] - belief).lpNorm<1>();
      if (other < distance) {
        distance = other;
        nearest = static_cast<int>(n);
      }
    }
    if (nearest >= 0) return nearest;
    beliefs_.push_back(belief);
    return static_cast<int>(beliefs_.size()) - 1;
  }

  const Pomdp& model_;
  LookAhead look_ahead_;
  BeliefFilter filter_;
  double tolerance_;
  int most_;
  std::vector<Vector> beliefs_;
  PolicyGraph graph_;
};

// A node for each of these beliefs, of which the first is the start: the plan's action, and next
// the node whose belief is nearest (L1) to the one that follows.
PolicyGraph nearest_graph(const Plan& plan, const Eigen::MatrixXd& beliefs) {
  const Pomdp& model = plan.model;
  LookAhead look_ahead(plan);
  BeliefFilter filter(model);
  PolicyGraph graph;
  graph.num_observations = model.num_observations();
  for (Eigen::Index n = 0; n < beliefs.cols(); ++n) {
    const Belief belief({beliefs.col(n).begin(), beliefs.col(n).end()});
    const Action a{look_ahead.greedy(belief.values())};
    graph.actions.push_back(a.value());
    for (Observation o{0}; o < model.num_observations(); ++o) {
      filter.reset(belief);
      filter.update(a, o);  // an impossible one is skipped
      const VectorView next(filter.belief().data(), model.num_states());
      Eigen::Index nearest = 0;
      (beliefs.colwise() - next).colwise().lpNorm<1>().minCoeff(&nearest);
      graph.next.push_back(can_come(model, a, o) ? static_cast<int>(nearest) : PolicyGraph::kNone);
    }
  }
  return graph;
}

// Of beliefs that runs of the plan meet, spread out, twice as many as max_nodes where they fit.
ExportedGraph graph_of_met_beliefs(const Plan& plan, const ExportOptions& options, int fitting) {
  constexpr std::uint64_t kPool = 4000;
  const Eigen::MatrixXd pool =
      detail::reached_beliefs(plan, std::min(options.steps, kPool), options.seed);
  ExportedGraph result;
  result.graph =
      nearest_graph(plan, detail::spread_out(pool, std::min(2 * options.max_nodes, fitting)));
  result.of_met_beliefs = true;
  result.value = evaluate_graph(plan.model, result.graph, 0);
  return result;
}

}  // namespace

bool ExportedGraph::worse_than(const Plan& plan) const {
  return detail::is_worse(value.gain, plan);
}

ExportedGraph export_graph(const Plan& plan, const ExportOptions& options) {
  options.validate();
  plan.validate();
  const auto fitting = static_cast<int>(kMaxGraphPairs) / plan.model.num_states();
  OAS_REQUIRE(fitting >= 1, "{} states are more than the limit of {} pairs of node and state",
              plan.model.num_states(), kMaxGraphPairs);
  ExportedGraph result;
  for (const double tolerance : kTolerances) {
    GraphBuilder builder(plan, tolerance, std::min(options.max_nodes, fitting));
    if (!builder.build()) continue;
    result.graph = builder.graph();
    result.tolerance = tolerance;
    result.value = evaluate_graph(plan.model, result.graph, 0);
    break;
  }
  if (!result.worse_than(plan)) return result;
  const ExportedGraph met = graph_of_met_beliefs(plan, options, fitting);
  return met.value.gain > result.value.gain ? met : result;
}

}  // namespace oas
