#include "oas/planning/hull/detail/hull_program.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace oas::detail {

namespace {

constexpr double kSmallestPivot = 1e-11;
constexpr std::size_t kFewestSifted = 20;
constexpr std::size_t kSiftedPerState = 2;
// Degenerate pivots may go round in circles; the last mixture is valid all the same.
int most_pivots(std::size_t states) { return 100 + 10 * static_cast<int>(states); }

}  // namespace

HullProgram::HullProgram(const PointSet& points)
    : points_(points), place_(static_cast<std::size_t>(points.num_states()), 0) {}

void HullProgram::add_candidate(int point, double value) {
  const SparseBelief& belief = points_[point];
  value_.push_back(value);
  first_.push_back(entry_place_.size());
  for (const int s : belief.states) entry_place_.push_back(place_[static_cast<std::size_t>(s)]);
  entry_share_.insert(entry_share_.end(), belief.shares.begin(), belief.shares.end());
}

void HullProgram::start(const SparseBelief& belief, std::span<const double> values) {
  const auto size = static_cast<Eigen::Index>(belief.states.size());
  points_.collect_within(belief, candidates_);
  candidates_.insert(candidates_.begin(), belief.states.begin(), belief.states.end());
  basis_.resize(belief.states.size());
  std::iota(basis_.begin(), basis_.end(), 0);
  inverse_.setIdentity(size, size);
  weights_ = Eigen::Map<const Eigen::VectorXd>(belief.shares.data(), size);
  prices_.resize(size);
  for (Eigen::Index k = 0; k < size; ++k) {
    const int s = belief.states[static_cast<std::size_t>(k)];
    place_[static_cast<std::size_t>(s)] = static_cast<int>(k);
    prices_[k] = values[static_cast<std::size_t>(s)];
  }
  value_.clear();
  first_.clear();
  entry_place_.clear();
  entry_share_.clear();
  for (const int i : candidates_) add_candidate(i, values[static_cast<std::size_t>(i)]);
  first_.push_back(entry_place_.size());
  tolerance_ =
      1e-9 * (prices_.maxCoeff() - prices_.minCoeff()) + 1e-12 * prices_.cwiseAbs().maxCoeff();
}

double HullProgram::reduced_cost(std::size_t candidate) const {
  double cost = value_[candidate];
  for (std::size_t k = first_[candidate]; k < first_[candidate + 1]; ++k) {
    cost -= entry_share_[k] * prices_[entry_place_[k]];
  }
  return cost;
}

bool HullProgram::sift() {
  Eigen::VectorXd costs(weights_.size());
  for (Eigen::Index k = 0; k < costs.size(); ++k) {
    costs[k] = value_[static_cast<std::size_t>(basis_[static_cast<std::size_t>(k)])];
  }
  prices_.noalias() = inverse_.transpose() * costs;  // pivots let them drift
  shortlist_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const double cost = reduced_cost(i);
    if (cost < -tolerance_) shortlist_.emplace_back(cost, static_cast<int>(i));
  }
  work_ += static_cast<double>(entry_place_.size());
  const std::size_t most = kFewestSifted + kSiftedPerState * basis_.size();
  if (shortlist_.size() > most) {
    std::nth_element(shortlist_.begin(), shortlist_.begin() + static_cast<std::ptrdiff_t>(most),
                     shortlist_.end());
    shortlist_.resize(most);
  }
  return !shortlist_.empty();
}

int HullProgram::entering() {
  double least = -tolerance_;
  int best = -1;
  for (const auto& [sifted, i] : shortlist_) {
    const auto candidate = static_cast<std::size_t>(i);
    const double cost = reduced_cost(candidate);
    work_ += static_cast<double>(first_[candidate + 1] - first_[candidate]);
    if (cost < least || (cost == least && i < best)) {
      least = cost;
      best = i;
    }
  }
  return best;
}

bool HullProgram::pivot(std::size_t candidate) {
  direction_.setZero(weights_.size());
  for (std::size_t k = first_[candidate]; k < first_[candidate + 1]; ++k) {
    direction_ += entry_share_[k] * inverse_.col(entry_place_[k]);
  }
  Eigen::Index leaving = -1;
  double step = std::numeric_limits<double>::infinity();
  for (Eigen::Index k = 0; k < weights_.size(); ++k) {
    if (direction_[k] <= kSmallestPivot) continue;
    const double share = std::max(0.0, weights_[k]) / direction_[k];
    if (share < step) {
      step = share;
      leaving = k;
    }
  }
  if (leaving < 0) return false;
  weights_ -= step * direction_;
  weights_[leaving] = step;
  const double reduced = reduced_cost(candidate);
  const Eigen::RowVectorXd row = inverse_.row(leaving) / direction_[leaving];
  inverse_.noalias() -= direction_ * row;
  inverse_.row(leaving) = row;
  basis_[static_cast<std::size_t>(leaving)] = static_cast<int>(candidate);
  prices_.noalias() += reduced * row.transpose();
  work_ += 2.0 * static_cast<double>(weights_.size() * weights_.size());
  return true;
}

Mixture HullProgram::mixture(const SparseBelief& belief) const {
  const double nothing = kDropped / (2.0 * static_cast<double>(weights_.size()));
  Eigen::VectorXd covered = Eigen::VectorXd::Zero(weights_.size());
  for (Eigen::Index k = 0; k < weights_.size(); ++k) {
    if (weights_[k] <= nothing) continue;
    const auto candidate = static_cast<std::size_t>(basis_[static_cast<std::size_t>(k)]);
    for (std::size_t j = first_[candidate]; j < first_[candidate + 1]; ++j) {
      covered[entry_place_[j]] += weights_[k] * entry_share_[j];
    }
  }
  double fits = 1.0;
  for (Eigen::Index k = 0; k < covered.size(); ++k) {
    if (covered[k] > 0.0)
      fits = std::min(fits, belief.shares[static_cast<std::size_t>(k)] / covered[k]);
  }
  std::vector<std::pair<int, double>> parts;
  for (Eigen::Index k = 0; k < weights_.size(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (weights_[k] > nothing) {
      parts.emplace_back(candidates_[static_cast<std::size_t>(basis_[i])], fits * weights_[k]);
    }
    const double rest = belief.shares[i] - fits * covered[k];
    if (rest > nothing) parts.emplace_back(belief.states[i], rest);
  }
  std::sort(parts.begin(), parts.end());
  Mixture out;
  double sum = 0.0;
  for (const auto& [point, weight] : parts) {
    sum += weight;
    if (!out.points.empty() && out.points.back() == point) {
      out.weights.back() += weight;
      continue;
    }
    out.points.push_back(point);
    out.weights.push_back(weight);
  }
  for (double& weight : out.weights) weight /= sum;
  return out;
}

Mixture HullProgram::solve(const SparseBelief& belief, std::span<const double> values) {
  if (belief.is_corner()) return {belief.states, {1.0}};
  if (const auto point = points_.find(belief)) return {{*point}, {1.0}};
  start(belief, values);
  work_ += 0.1 * points_.size();
  int left = most_pivots(belief.states.size());
  while (left > 0 && sift()) {
    for (; left > 0; --left) {
      const int candidate = entering();
      if (candidate < 0) break;
      if (!pivot(static_cast<std::size_t>(candidate))) left = 0;
    }
  }
  return mixture(belief);
}

}  // namespace oas::detail
