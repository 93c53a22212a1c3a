#include "oas/planning/hull/hull_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/detail/attempt.hpp"
#include "oas/planning/hull/detail/hull_solver.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/points/detail/point_solver.hpp"

namespace oas {

namespace {

constexpr std::array<double, 4> kDiscounts = {0.97, 0.99, 0.95, 1.0};
constexpr double kHullGap = 1e-4;     // of the range of rewards
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
constexpr double kCertifying = 5e10;  // products of all certificates but the first

Eigen::MatrixXd vectors_of(const Plan& plan) {
  const auto& alpha = std::get<VectorBias>(plan.bias).alpha;
  const Eigen::Index states = plan.model.num_states();
  return Eigen::Map<const Eigen::MatrixXd>(alpha.data(), states,
                                           static_cast<Eigen::Index>(alpha.size()) / states);
}

// A policy, and what it earned in a short simulation.
struct Judged {
  Eigen::MatrixXd vectors;  // S×K
  int backups = 0;
  double span = 0.0;
  double mean = 0.0;
  double half_width = 0.0;
};

// Both bounds on their way towards each other.
class Refinement {
 public:
  Refinement(const Pomdp& model, const HullOptions& options, Parallelism parallelism)
      : options_(options),
        parallelism_(parallelism),
        plan_(point_based_plan(model, options.iota, options.point)),
        upper_(model, options.iota) {
    const Matrix rewards = model.expected_reward();
    gap_ = options.gap.value_or(kHullGap * (rewards.maxCoeff() - rewards.minCoeff()));
    kept_.push_back(judge({vectors_of(plan_), plan_.iterations, plan_.residual}));
    upper_.set_bias(kept_.back().vectors);
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
  [[nodiscard]] const Judged& best() const { return kept_[best_]; }
  // What it has earned.
  [[nodiscard]] double lower() const { return best().mean; }

  [[nodiscard]] std::string reason_to_stop(std::size_t in_vain) const {
    const detail::HullChain& chain = upper_.chain();
    if (upper_.bound() - lower() <= gap_) return "the bounds have met";
    if (upper_.work() + searching_ >= options_.work) return "the work is spent";
    if (chain.points().size() >= options_.max_points ||
        static_cast<double>(chain.num_entries()) >= options_.max_entries) {
      return "the memory for points is spent";
    }
    return in_vain > kDiscounts.size() ? "nothing is left to refine" : "";
  }

  [[nodiscard]] Plan plan_of(const Judged& policy) const {
    Plan plan = plan_;
    plan.bias = VectorBias{{policy.vectors.data(), policy.vectors.data() + policy.vectors.size()}};
    plan.iterations = policy.backups;
    plan.residual = policy.span;
    return plan;
  }

  // Products of a step of a simulation.
  [[nodiscard]] double cost_of_step(const Judged& policy) const {
    const Pomdp& model = plan_.model;
    const double states = model.num_states();
    return model.num_actions() *
           (detail::SparseModel::pays(model) ? 1.0 : model.num_observations()) * states *
           (states + static_cast<double>(policy.vectors.cols()));
  }

  // The same luck for all, and not that of their certificates.
  Judged judge(Judged policy) {
    const double cost = cost_of_step(policy);
    SimulationOptions judge;
    judge.steps = static_cast<std::uint64_t>(std::clamp(
        kJudgingWork / cost, static_cast<double>(kFewestSteps), static_cast<double>(kMostSteps)));
    judge.burn_in = judge.steps / 80;
    judge.seed = options_.point.seed + 1;
    searching_ += cost * static_cast<double>(judge.steps);
    Plan judged = plan_of(policy);
    certify(judged, judge, parallelism_);
    policy.mean = judged.certificate.mean;
    policy.half_width = judged.certificate.half_width;
    return policy;
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
    solver.start_from(best().vectors);
    Eigen::MatrixXd beliefs = upper_.visited(point.num_beliefs);
    const auto count = static_cast<double>(beliefs.cols());
    solver.set_beliefs(std::move(beliefs));
    const auto outcome = solver.solve();
    const double states = model.num_states();
    searching_ += outcome.backups * count * model.num_actions() * states *
                  (states + model.num_observations());
    Judged found = judge({solver.vectors(), best().backups + outcome.backups, outcome.span});
    if (needed || found.mean > lower() - kPoor * (upper_.bound() - lower())) {
      upper_.set_bias(solver.vectors());
    }
    if (found.mean + found.half_width <= lower()) return;
    const bool better = found.mean > lower();
    kept_.push_back(std::move(found));
    if (better) best_ = kept_.size() - 1;
  }

  // Of the policies that were kept, with a certificate: those that earned most, as far as that is
  // cheap, but for those that have hardly earned as much as is certified already.
  Plan certified() {
    const SimulationOptions& simulation = *options_.simulation;
    std::vector<std::size_t> order(kept_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return kept_[i].mean > kept_[j].mean; });
    const double most = kCertifying / static_cast<double>(simulation.steps);
    double spent = 0.0;
    std::optional<Plan> chosen;
    for (const std::size_t k : order) {
      const Judged& policy = kept_[k];
      spent += cost_of_step(policy);
      if (chosen && (spent > most || policy.mean + policy.half_width <= chosen->gain_lower)) {
        continue;
      }
      Plan plan = plan_of(policy);
      detail::certify_attempt(plan, simulation, static_cast<int>(k) + 1, parallelism_);
      if (!chosen || plan.gain_lower > chosen->gain_lower) chosen = std::move(plan);
    }
    return std::move(*chosen);
  }

  Plan finish(int rounds, const std::string& why) {
    plan_.gain_upper = plan_.gain_lower = std::min(plan_.gain_upper, upper_.bound());
    const bool met = plan_.gain_upper - lower() <= gap_;
    plan_.status = met ? SolveStatus::converged : SolveStatus::sweep_limit;
    plan_.message = fmt::format("upper bound of {} points after {} rounds: {}",
                                upper_.chain().points().size(), rounds, why);
    return options_.simulation ? certified() : plan_of(best());
  }

  HullOptions options_;
  Parallelism parallelism_;
  Plan plan_;                 // but for its bias
  std::vector<Judged> kept_;  // those that may be the best one
  std::size_t best_ = 0;      // the one that has earned most
  detail::HullSolver upper_;
  double gap_ = 0.0;
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
  if (simulation) simulation->validate();
}

Plan hull_plan(const Pomdp& model, const HullOptions& options, Parallelism parallelism) {
  options.validate();
  return Refinement(model, options, parallelism).run();
}

}  // namespace oas
