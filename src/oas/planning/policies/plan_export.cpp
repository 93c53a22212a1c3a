#include "oas/planning/policies/plan_export.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/planning/evaluation/policy_simulation.hpp"
#include "oas/planning/points/detail/point_solver.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"
#include "oas/planning/policies/detail/follow_plan.hpp"

namespace oas {

namespace {

// Vectors whose maximum stands for v in a grid plan's model.
VectorBias vectors_for(const Plan& plan, const ExportOptions& options) {
  constexpr std::uint64_t kPool = 4000;
  const auto steps = std::min(options.steps, kPool);
  const Eigen::MatrixXd pool = detail::reached_beliefs(plan, steps, options.seed);
  const PointOptions point;
  detail::PointSolver solver(plan.model, 0.0, point);
  solver.set_beliefs(detail::spread_out(pool, point.num_beliefs));
  solver.solve();
  return {{solver.vectors().data(), solver.vectors().data() + solver.vectors().size()}};
}

// Look-ahead vectors of a point-based plan in timing `after`, one for each choice of action and
// successor vectors.
class Backups {
 public:
  explicit Backups(const Plan& plan)
      : model_(plan.model),
        rewards_(plan.model.expected_reward()),
        alpha_(matrix_of(std::get<VectorBias>(plan.bias), plan.model.num_states())) {
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
  static Eigen::MatrixXd matrix_of(const VectorBias& bias, int num_states) {
    return MatrixView(bias.alpha.data(), bias.num_vectors(num_states), num_states);
  }

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

}  // namespace

void ExportOptions::validate() const {
  OAS_REQUIRE(steps >= 100, "steps is {}; it must be at least 100", steps);
  OAS_REQUIRE(max_vectors >= 1, "max_vectors is {}; it must be at least 1", max_vectors);
  OAS_REQUIRE(max_nodes >= 1, "max_nodes is {}; it must be at least 1", max_nodes);
}

bool ExportedVectors::worse_than(const Plan& plan) const {
  return detail::is_worse(gain.mean + gain.half_width, plan);
}

ExportedVectors export_vectors(const Plan& plan, const ExportOptions& options,
                               Parallelism parallelism) {
  options.validate();
  plan.validate();
  const TimingConversion same = convert_timing(plan.model, Timing::after);
  OAS_REQUIRE(
      same.model.has_value(),
      "the plan's model has timing before, and alpha-vectors are for models of timing after; on "
      "these states the two are not equivalent: {}; a policy graph (.pg) can hold any "
      "plan, and oas convert MODEL FILE --timing after --expand makes a model whose plans have "
      "vectors",
      same.reason);
  Plan point(*same.model);
  const auto* const own = std::get_if<VectorBias>(&plan.bias);
  point.bias = own != nullptr ? *own : vectors_for(plan, options);
  Backups backups(point);
  detail::follow_plan(point, options.steps, options.seed,
                      [&](std::span<const double> belief, int /*action*/) { backups.add(belief); });
  ExportedVectors result;
  result.policy = backups.policy(options.max_vectors);
  result.fitted = own == nullptr;
  result.exact_where_reached = !result.fitted && backups.fits(options.max_vectors);
  AlphaActions acts(result.policy, point.model);
  std::uint64_t same_action = 0;
  detail::follow_plan(plan, options.steps, options.seed + 1,
                      [&](std::span<const double> belief, int action) {
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

}  // namespace oas
