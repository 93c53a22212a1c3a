#include "oas/planning/hull/detail/hull_solver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/interruption.hpp"

namespace oas::detail {

namespace {

constexpr double kVisited = 1e-9;   // share of the steps from which a pair counts
constexpr double kExpanded = 1e-7;  // and from which a deferred one is expanded
constexpr double kMended = 0.9;     // of the leaks, in a round
constexpr double kLikely = 0.01;    // states that a new point keeps
constexpr int kFewestAdded = 20;    // points in a round
constexpr int kAddedShare = 5;      // of the points: a fifth

// The likely states of a belief, and nothing else.
SparseBelief likely_part(const SparseBelief& belief) {
  SparseBelief part;
  for (std::size_t k = 0; k < belief.states.size(); ++k) {
    if (belief.shares[k] < kLikely) continue;
    part.states.push_back(belief.states[k]);
    part.shares.push_back(belief.shares[k]);
  }
  const double sum = std::accumulate(part.shares.begin(), part.shares.end(), 0.0);
  for (double& share : part.shares) share /= sum;
  return part;
}

}  // namespace

HullSolver::HullSolver(const Pomdp& model, double iota) : chain_(model, iota) {}

void HullSolver::set_bias(Eigen::MatrixXd alpha) {
  alpha_ = alpha.transpose();
  bias_.clear();
  for (int i = 0; i < chain_.points().size(); ++i) bias_.push_back(bias(chain_.points()[i]));
}

double HullSolver::bias(const SparseBelief& belief) {
  scores_.setZero(alpha_.rows());
  for (std::size_t k = 0; k < belief.states.size(); ++k) {
    scores_ += belief.shares[k] * alpha_.col(belief.states[k]);
  }
  work_ += static_cast<double>(scores_.size()) * static_cast<double>(belief.states.size());
  return scores_.maxCoeff();
}

double HullSolver::leak(const SparseBelief& belief, const Mixture& mixture) {
  if (mixture.is_point()) return 0.0;
  double leak = chain_.worth(mixture) - bias(belief);
  for (std::size_t k = 0; k < mixture.points.size(); ++k) {
    const auto point = static_cast<std::size_t>(mixture.points[k]);
    leak += mixture.weights[k] * (bias_[point] - chain_.values()[point]);
  }
  return std::max(leak, 0.0);
}

void HullSolver::collect_leaks(int point, int action, double mass, std::vector<Leak>& out) {
  const auto& branches = chain_.branches_of(point, action);
  const auto& next = chain_.successors().from(chain_.points()[point], action);
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const double cost = mass * branches[k].probability * leak(next[k].belief, branches[k].next);
    if (cost > 0.0) out.push_back({cost, point, action, static_cast<int>(k)});
  }
}

std::vector<HullSolver::Leak> HullSolver::leaks(const std::vector<double>& occupancy) {
  std::vector<Leak> found;
  const auto width = static_cast<std::size_t>(chain_.num_actions());
  for (std::size_t number = 0; number < occupancy.size(); ++number) {
    if (occupancy[number] < kVisited) continue;
    const auto point = static_cast<int>(number / width);
    const auto action = static_cast<int>(number % width);
    if (chain_.is_expanded(point, action)) {
      collect_leaks(point, action, occupancy[number], found);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Leak& x, const Leak& y) { return x.cost > y.cost; });
  return found;
}

bool HullSolver::expand_visited(const std::vector<double>& occupancy) {
  bool expanded = false;
  const auto width = static_cast<std::size_t>(chain_.num_actions());
  for (std::size_t number = 0; number < occupancy.size(); ++number) {
    const auto point = static_cast<int>(number / width);
    const auto action = static_cast<int>(number % width);
    if (occupancy[number] < kExpanded || chain_.is_expanded(point, action)) continue;
    check_interrupted();
    chain_.expand(point, action);
    expanded = true;
  }
  return expanded;
}

void HullSolver::add_point(SparseBelief belief, Mixture home) {
  bias_.push_back(bias(belief));
  chain_.add(std::move(belief), std::move(home));
}

bool HullSolver::mend(const Leak& where, int& added) {
  const auto branch = static_cast<std::size_t>(where.branch);
  const SparseBelief belief =
      chain_.successors().from(chain_.points()[where.point], where.action)[branch].belief;
  SparseBelief likely = likely_part(belief);
  const bool shorter = likely.states.size() < belief.states.size() && !likely.states.empty();
  if (shorter && !chain_.points().find(likely)) {
    Mixture home = chain_.cheapest(likely);
    add_point(std::move(likely), std::move(home));
    ++added;
  }
  Mixture next = chain_.cheapest(belief);
  const auto& old = chain_.branches_of(where.point, where.action)[branch].next;
  if (chain_.worth(next) < chain_.worth(old)) {
    chain_.set_next(where.point, where.action, where.branch, next);
    return true;
  }
  if (leak(belief, old) == 0.0) return false;
  add_point(belief, std::move(next));
  ++added;
  chain_.set_next(where.point, where.action, where.branch, {{chain_.points().size() - 1}, {1.0}});
  return true;
}

bool HullSolver::refine() {
  bound_ = std::min(bound_, chain_.settle());
  const std::vector<double>& occupancy = chain_.occupancy();
  const auto width = static_cast<std::size_t>(chain_.num_actions());
  share_.assign(occupancy.size() / width, 0.0);
  for (std::size_t i = 0; i < occupancy.size(); ++i) share_[i / width] += occupancy[i];
  const std::vector<Leak> found = leaks(occupancy);
  bool changed = expand_visited(occupancy);
  double left = 0.0;
  for (const Leak& leak : found) left += leak.cost;
  const double enough = (1.0 - kMended) * left;
  const int most = kFewestAdded + chain_.points().size() / kAddedShare;
  int added = 0;
  for (const Leak& leak : found) {
    if (added >= most || left <= enough) break;
    check_interrupted();
    changed = mend(leak, added) || changed;
    left -= leak.cost;
  }
  return changed;
}

Eigen::MatrixXd HullSolver::visited(int most) const {
  std::vector<int> order(share_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    return share_[static_cast<std::size_t>(i)] > share_[static_cast<std::size_t>(j)];
  });
  while (!order.empty() && (static_cast<int>(order.size()) > most ||
                            share_[static_cast<std::size_t>(order.back())] < kVisited)) {
    order.pop_back();
  }
  Eigen::MatrixXd beliefs =
      Eigen::MatrixXd::Zero(chain_.points().num_states(), static_cast<Eigen::Index>(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SparseBelief& belief = chain_.points()[order[i]];
    for (std::size_t k = 0; k < belief.states.size(); ++k) {
      beliefs(belief.states[k], static_cast<Eigen::Index>(i)) = belief.shares[k];
    }
  }
  return beliefs;
}

}  // namespace oas::detail
