#include "oas/planning/hull/hull_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/hull/detail/hull_solver.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/points/detail/point_solver.hpp"

namespace oas {

namespace {

constexpr std::array<double, 4> kDiscounts = {0.97, 0.99, 0.95, 1.0};
constexpr double kDefaultGap = 1e-4;  // of the range of rewards
constexpr double kJudgingWork = 1e9;  // of a simulation that compares policies
constexpr double kGrowth = 1.5;       // of the points, between two searches for a policy
constexpr int kFirstSearch = 100;     // points
constexpr double kPoor = 0.1;         // of the gap that a policy may earn less
constexpr int kSearchBackups = 200;
constexpr double kPointsPerBelief = 4.0;  // of the upper bound's points, for a search
constexpr double kMostGrowth = 3.0;       // of the beliefs and vectors of a search
constexpr double kSearchShare = 0.5;      // of the work so far, at most, for the next search
constexpr std::uint64_t kFewestSteps = 1280;
constexpr std::uint64_t kMostSteps = 20'000;

Eigen::MatrixXd vectors_of(const Plan& plan) {
  const auto& alpha = std::get<VectorBias>(plan.bias).alpha;
  const Eigen::Index states = plan.model.num_states();
  return Eigen::Map<const Eigen::MatrixXd>(alpha.data(), states,
                                           static_cast<Eigen::Index>(alpha.size()) / states);
}

// Both bounds on their way towards each other.
class Refinement {
 public:
  Refinement(const Pomdp& model, const HullOptions& options)
      : options_(options),
        plan_(point_based_plan(model, options.iota, options.point)),
        upper_(model, options.iota) {
    const Matrix rewards = model.expected_reward();
    gap_ = options.gap.value_or(kDefaultGap * (rewards.maxCoeff() - rewards.minCoeff()));
    lower_ = earned(plan_);
    upper_.set_bias(vectors_of(plan_));
  }

  Plan run() {
    std::string why;
    int rounds = 0;
    int searched_at = kFirstSearch;
    std::size_t in_vain = 0;  // searches since something was mended
    for (; why.empty(); ++rounds) {
      check_interrupted();
      const bool mended = upper_.refine();
      const int points = upper_.chain().points().size();
      if (mended) in_vain = 0;
      why = reason_to_stop(in_vain);
      if (!why.empty()) continue;
      if (!mended || (points >= searched_at && searching_ <= kSearchShare * upper_.work())) {
        search(!mended);
        searched_at = static_cast<int>(kGrowth * points);
        ++in_vain;
      }
    }
    return finish(rounds, why);
  }

 private:
  [[nodiscard]] std::string reason_to_stop(std::size_t in_vain) const {
    const detail::HullChain& chain = upper_.chain();
    if (upper_.bound() - lower_ <= gap_) return "the bounds have met";
    if (upper_.work() + searching_ >= options_.work) return "the work is spent";
    if (chain.points().size() >= options_.max_points ||
        static_cast<double>(chain.num_entries()) >= options_.max_entries) {
      return "the memory for points is spent";
    }
    return in_vain > kDiscounts.size() ? "nothing is left to refine" : "";
  }

  // Mean reward of a short simulation; the same luck for all.
  double earned(const Plan& plan) {
    const Pomdp& model = plan.model;
    const double states = model.num_states();
    const double vectors = std::get<VectorBias>(plan.bias).num_vectors(model.num_states());
    const double cost = model.num_actions() *
                        (detail::SparseModel::pays(model) ? 1.0 : model.num_observations()) *
                        states * (states + vectors);
    SimulationOptions judge;
    judge.steps = static_cast<std::uint64_t>(std::clamp(
        kJudgingWork / cost, static_cast<double>(kFewestSteps), static_cast<double>(kMostSteps)));
    judge.burn_in = judge.steps / 80;
    judge.seed = options_.point.seed;
    searching_ += cost * static_cast<double>(judge.steps);
    Plan judged = plan;
    certify(judged, judge);
    return judged.certificate.mean;
  }

  // A policy for the beliefs that the upper bound meets. Its bias tells where to refine from now
  // on, unless it is a poor one and the old one still finds something.
  void search(bool needed) {
    PointOptions point = options_.point;
    point.max_sweeps = std::min(point.max_sweeps, kSearchBackups);
    // Where the bound needs many points, so does the policy.
    const double growth = std::clamp(
        upper_.chain().points().size() / (kPointsPerBelief * point.num_beliefs), 1.0, kMostGrowth);
    point.num_beliefs = static_cast<int>(growth * point.num_beliefs);
    point.num_vectors = static_cast<int>(growth * point.num_vectors);
    point.discount = kDiscounts[searches_++ % kDiscounts.size()];
    const Pomdp& model = plan_.model;
    detail::PointSolver solver(model, options_.iota, point);
    solver.start_from(vectors_of(plan_));
    Eigen::MatrixXd beliefs = upper_.visited(point.num_beliefs);
    const auto count = static_cast<double>(beliefs.cols());
    solver.set_beliefs(std::move(beliefs));
    const auto outcome = solver.solve();
    const double states = model.num_states();
    searching_ += outcome.backups * count * model.num_actions() * states *
                  (states + model.num_observations());
    Plan candidate = plan_;
    const Eigen::MatrixXd& vectors = solver.vectors();
    candidate.bias = VectorBias{{vectors.data(), vectors.data() + vectors.size()}};
    candidate.iterations += outcome.backups;
    const double earned_by_it = earned(candidate);
    if (needed || earned_by_it > lower_ - kPoor * (upper_.bound() - lower_)) {
      upper_.set_bias(vectors);
    }
    if (earned_by_it <= lower_) return;
    lower_ = earned_by_it;
    candidate.residual = outcome.span;
    plan_ = std::move(candidate);
  }

  Plan finish(int rounds, const std::string& why) {
    plan_.gain_upper = plan_.gain_lower = std::min(plan_.gain_upper, upper_.bound());
    const bool met = plan_.gain_upper - lower_ <= gap_;
    plan_.status = met ? SolveStatus::converged : SolveStatus::sweep_limit;
    plan_.message = fmt::format("upper bound of {} points after {} rounds: {}",
                                upper_.chain().points().size(), rounds, why);
    return std::move(plan_);
  }

  HullOptions options_;
  Plan plan_;
  detail::HullSolver upper_;
  double gap_ = 0.0;
  double lower_ = 0.0;
  double searching_ = 0.0;  // products of searches and simulations
  std::size_t searches_ = 0;
};

}  // namespace

void HullOptions::validate() const {
  OAS_REQUIRE(!gap || (std::isfinite(*gap) && *gap > 0.0), "gap is {}; it must be positive", *gap);
  OAS_REQUIRE(std::isfinite(work) && work > 0.0, "work is {}; it must be positive", work);
  OAS_REQUIRE(max_points >= 1, "max_points is {}; it must be at least 1", max_points);
  OAS_REQUIRE(max_entries > 0.0, "max_entries is {}; it must be positive", max_entries);
  point.validate();
}

Plan hull_plan(const Pomdp& model, const HullOptions& options) {
  options.validate();
  return Refinement(model, options).run();
}

}  // namespace oas
