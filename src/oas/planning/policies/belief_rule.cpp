#include "oas/planning/policies/belief_rule.hpp"

#include <array>

#include "oas/belief/filter.hpp"
#include "oas/belief/first_beliefs.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

constexpr std::array<double, 11> kTolerances = {1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2,
                                                3e-2, 0.1,  0.3,  1.0,  2.1};

// The controller of the beliefs that a rule can reach, those nearer than `tolerance` merged.
class NodeBuilder {
 public:
  NodeBuilder(const BeliefRule& rule, double tolerance, int most)
      : rule_(rule), filter_(rule.model), tolerance_(tolerance), most_(most) {
    nodes_.tolerance = tolerance;
    nodes_.controller.num_actions = rule.model.num_actions();
    nodes_.controller.num_observations = rule.model.num_observations();
  }

  // False when there are more nodes than allowed.
  bool build(std::span<const std::vector<double>> roots) {
    for (const std::vector<double>& root : roots) {
      nodes_.roots.push_back(
          node_of(VectorView(root.data(), static_cast<Eigen::Index>(root.size()))));
    }
    for (std::size_t n = 0; n < beliefs_.size(); ++n) {
      if (beliefs_.size() > static_cast<std::size_t>(most_)) return false;
      add(Vector(beliefs_[n]));
    }
    return true;
  }

  [[nodiscard]] const BeliefNodes& nodes() const { return nodes_; }

 private:
  void add(const Vector& belief) {
    const Pomdp& model = rule_.model;
    const int best = rule_.best({belief.data(), static_cast<std::size_t>(belief.size())});
    for (Action a{0}; a < model.num_actions(); ++a) {
      const double chance =
          a.value() == best ? 1.0 - (model.num_actions() - 1) * rule_.floor : rule_.floor;
      nodes_.controller.probabilities.push_back(chance);
      for (Observation o{0}; o < model.num_observations(); ++o) {
        const bool possible = (model.sensors().matrix(a).row(o.value()).array() > 0.0).any();
        nodes_.controller.next.push_back(chance > 0.0 && possible ? successor(belief, a, o)
                                                                  : Controller::kNone);
      }
    }
  }

  int successor(const Vector& belief, Action a, Observation o) {
    filter_.reset(Belief({belief.begin(), belief.end()}));
    filter_.update(a, o);  // an impossible one is skipped
    const auto next = filter_.belief();
    return node_of(VectorView(next.data(), rule_.model.num_states()));
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

  const BeliefRule& rule_;
  BeliefFilter filter_;
  double tolerance_;
  int most_;
  std::vector<Vector> beliefs_;
  BeliefNodes nodes_;
};

}  // namespace

BeliefRule rule_of(const Plan& plan) {
  plan.validate();
  // It has work space, so one rule acts in one thread; copies have their own.
  return {plan.model,
          [look_ahead = LookAhead(plan)](std::span<const double> belief) mutable {
            return look_ahead.greedy(belief);
          },
          plan.iota};
}

BeliefNodes nodes_of(const BeliefRule& rule, std::span<const std::vector<double>> roots,
                     int max_nodes) {
  check_floor(rule.floor, rule.model.num_actions());
  OAS_REQUIRE(max_nodes >= 1, "max_nodes is {}; it must be at least 1", max_nodes);
  OAS_REQUIRE(!roots.empty(), "no belief to start at");
  for (const double tolerance : kTolerances) {
    NodeBuilder builder(rule, tolerance, max_nodes);
    if (builder.build(roots)) {
      BeliefNodes nodes = builder.nodes();
      nodes.controller.start = nodes.roots.front();
      return nodes;
    }
  }
  throw InvalidArgument("a belief is not a point of the simplex");  // 2.1 holds all of it
}

BeliefNodes nodes_from_start(const BeliefRule& rule, int max_nodes) {
  const std::vector<FirstBelief> starts = first_beliefs(rule.model);
  std::vector<std::vector<double>> roots;
  for (const FirstBelief& start : starts) roots.push_back(start.belief);
  BeliefNodes nodes = nodes_of(rule, roots, max_nodes);
  if (!rule.model.reading_first()) return nodes;
  std::vector<int>& first = nodes.controller.first;
  first.assign(static_cast<std::size_t>(rule.model.num_observations()), Controller::kNone);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    first[static_cast<std::size_t>(starts[i].first)] = nodes.roots[i];
  }
  return nodes;
}

}  // namespace oas
