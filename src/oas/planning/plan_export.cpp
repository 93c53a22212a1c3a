#include "oas/planning/plan_export.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/planning/detail/point_solver.hpp"
#include "oas/planning/detail/sparse_model.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/policy_simulation.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

namespace {

constexpr std::array<double, 11> kTolerances = {1e-9, 1e-6, 1e-4, 1e-3, 3e-3, 1e-2,
                                                3e-2, 0.1,  0.3,  1.0,  2.1};
constexpr std::uint64_t kRunLength = 2000;

// Calls visit(belief, greedy action) along runs of the plan in its model.
template <class Visit>
void follow(const Plan& plan, std::uint64_t steps, std::uint64_t seed, Visit visit) {
  LookAhead look_ahead(plan);
  BeliefFilter filter(plan.model);
  for (std::uint64_t done = 0; done < steps; done += kRunLength) {
    const auto replication = static_cast<std::uint32_t>(done / kRunLength);
    Environment environment(plan.model, Rng({seed, replication, Role::environment}));
    filter.reset();
    for (std::uint64_t t = 0; t < std::min(kRunLength, steps - done); ++t) {
      const int action = look_ahead.greedy(filter.belief());
      visit(filter.belief(), action);
      filter.update(Action{action}, environment.step(Action{action}).observation);
    }
  }
}

// Vectors whose maximum stands for v in a grid plan's model.
std::vector<double> vectors_for(const Plan& plan, const ExportOptions& options) {
  constexpr std::uint64_t kPool = 4000;
  const auto steps = std::min(options.steps, kPool);
  Eigen::MatrixXd pool(plan.model.num_states(), static_cast<Eigen::Index>(steps));
  Eigen::Index column = 0;
  follow(plan, steps, options.seed, [&](std::span<const double> belief, int /*action*/) {
    pool.col(column++) = VectorView(belief.data(), plan.model.num_states());
  });
  const PointOptions point;
  detail::PointSolver solver(plan.model, 0.0, point);
  solver.set_beliefs(detail::spread_out(pool, point.num_beliefs));
  solver.solve();
  return {solver.vectors().data(), solver.vectors().data() + solver.vectors().size()};
}

// Look-ahead vectors of a point-based plan in timing `after`, one for each choice of action and
// successor vectors.
class Backups {
 public:
  explicit Backups(const Plan& plan)
      : model_(plan.model),
        rewards_(plan.model.expected_reward()),
        alpha_(MatrixView(plan.alpha.data(), plan.num_alpha(), plan.model.num_states())) {
    if (detail::SparseModel::pays(model_)) sparse_.emplace(model_);
  }

  // Notes the vector of the best action at a belief.
  void add(std::span<const double> belief) {
    std::vector<int> best;
    double largest = 0.0;
    for (int a = 0; a < model_.num_actions(); ++a) {
      std::vector<int> choice(static_cast<std::size_t>(model_.num_observations()) + 1, 0);
      choice[0] = a;
      const double value = rewards_.row(a).dot(VectorView(belief.data(), model_.num_states())) +
                           (sparse_ ? choose_sparse(belief, choice) : choose_dense(belief, choice));
      if (best.empty() || value > largest) {
        largest = value;
        best = std::move(choice);
      }
    }
    ++counts_[best];
  }

  [[nodiscard]] bool fits(int most) const {
    return counts_.size() <= static_cast<std::size_t>(most);
  }

  // The vectors used most often, those first.
  [[nodiscard]] AlphaPolicy policy(int most) const {
    std::vector<const std::pair<const std::vector<int>, long>*> order;
    for (const auto& entry : counts_) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* x, const auto* y) { return x->second > y->second; });
    order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
    AlphaPolicy policy;
    policy.vector_length = model_.num_states();
    for (const auto* entry : order) {
      const std::vector<int>& choice = entry->first;
      const Action a{choice[0]};
      Vector future = Vector::Zero(model_.num_states());
      for (int o = 0; o < model_.num_observations(); ++o) {
        future += model_.sensors().matrix(a).row(o).transpose().cwiseProduct(
            alpha_.row(choice[static_cast<std::size_t>(o) + 1]).transpose());
      }
      const Vector vector =
          rewards_.row(a.value()).transpose() + model_.transition().matrix(a) * future;
      policy.actions.push_back(a.value());
      policy.seen.push_back(0);
      policy.alpha.insert(policy.alpha.end(), vector.begin(), vector.end());
    }
    return policy;
  }

 private:
  // Σ_o max_k α_k·(P(o) b'_o) of action choice[0]; the best k goes to choice[o + 1].
  double choose_dense(std::span<const double> belief, std::vector<int>& choice) const {
    const Action a{choice[0]};
    const Vector moved =
        model_.transition().matrix(a).transpose() * VectorView(belief.data(), model_.num_states());
    double value = 0.0;
    for (int o = 0; o < model_.num_observations(); ++o) {
      Eigen::Index k = 0;
      const Vector next = model_.sensors().matrix(a).row(o).transpose().cwiseProduct(moved);
      value += (alpha_ * next).maxCoeff(&k);
      choice[static_cast<std::size_t>(o) + 1] = static_cast<int>(k);
    }
    return value;
  }

  double choose_sparse(std::span<const double> belief, std::vector<int>& choice) {
    detail::successor_scores(*sparse_, choice[0], belief.data(), alpha_, successors_);
    double value = 0.0;
    for (const int o : successors_.observed) {
      Eigen::Index k = 0;
      value += successors_.scores.col(o).maxCoeff(&k);
      choice[static_cast<std::size_t>(o) + 1] = static_cast<int>(k);
    }
    return value;
  }

  const Pomdp& model_;
  Matrix rewards_;
  Eigen::MatrixXd alpha_;  // K×S
  std::optional<detail::SparseModel> sparse_;
  detail::SuccessorScores successors_;
  std::map<std::vector<int>, long> counts_;
};

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
        graph_.next.push_back(can_come(a, o) ? successor(belief, a, Observation{o})
                                             : PolicyGraph::kNone);
      }
    }
    return true;
  }

  [[nodiscard]] const PolicyGraph& graph() const { return graph_; }

 private:
  [[nodiscard]] bool can_come(Action a, int o) const {
    return (model_.sensors().matrix(a).row(o).array() > 0.0).any();
  }

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

}  // namespace

void ExportOptions::validate() const {
  OAS_REQUIRE(steps >= 100, "steps is {}; it must be at least 100", steps);
  OAS_REQUIRE(max_vectors >= 1, "max_vectors is {}; it must be at least 1", max_vectors);
  OAS_REQUIRE(max_nodes >= 1, "max_nodes is {}; it must be at least 1", max_nodes);
}

ExportedVectors export_vectors(const Plan& plan, const ExportOptions& options,
                               Parallelism parallelism) {
  options.validate();
  plan.validate();
  const TimingConversion same = convert_timing(plan.model, Timing::after);
  OAS_REQUIRE(
      same.model.has_value(),
      "the plan's model is of timing before, and policies of alpha-vectors are about models "
      "of timing after; on its states the two are not the same: {}; a policy graph (.pg) holds any "
      "plan, and oas convert MODEL FILE --timing after --expand makes a model whose plans have "
      "vectors",
      same.reason);
  Plan point(*same.model);
  point.planner = "point";
  point.alpha = plan.planner == "point" ? plan.alpha : vectors_for(plan, options);
  Backups backups(point);
  follow(point, options.steps, options.seed,
         [&](std::span<const double> belief, int /*action*/) { backups.add(belief); });
  ExportedVectors result;
  result.policy = backups.policy(options.max_vectors);
  result.exact_where_reached = plan.planner == "point" && backups.fits(options.max_vectors);
  AlphaActions acts(result.policy, point.model);
  std::uint64_t same_action = 0;
  follow(plan, options.steps, options.seed + 1, [&](std::span<const double> belief, int action) {
    same_action += acts(belief) == action ? 1 : 0;
  });
  result.agreement = static_cast<double>(same_action) / static_cast<double>(options.steps);
  SimulationOptions simulation;
  simulation.seed = options.seed;
  simulation.steps = std::max<std::uint64_t>(options.steps, 1000);
  result.gain =
      evaluate_by_simulation(point.model, result.policy, point.model, {}, simulation, parallelism);
  return result;
}

ExportedGraph export_graph(const Plan& plan, const ExportOptions& options) {
  options.validate();
  plan.validate();
  const auto fitting = static_cast<int>(kMaxGraphPairs) / plan.model.num_states();
  OAS_REQUIRE(fitting >= 1, "{} states are more than the limit of {} pairs of node and state",
              plan.model.num_states(), kMaxGraphPairs);
  for (const double tolerance : kTolerances) {
    GraphBuilder builder(plan, tolerance, std::min(options.max_nodes, fitting));
    if (!builder.build()) continue;
    return {builder.graph(), tolerance, evaluate_graph(plan.model, builder.graph(), 0)};
  }
  OAS_ASSERT(false);  // no two beliefs are farther apart than 2
  return {};
}

}  // namespace oas
