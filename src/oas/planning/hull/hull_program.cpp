#include "oas/planning/hull/detail/hull_program.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace oas::detail {

namespace {

constexpr double kSmallestPivot = 1e-11;
// Degenerate pivots may go round in circles; the last mixture is valid all the same.
int most_pivots(std::size_t states) { return 100 + 10 * static_cast<int>(states); }

}  // namespace

HullProgram::HullProgram(const PointSet& points)
    : points_(points),
      place_(static_cast<std::size_t>(points.num_states()), 0),
      price_(static_cast<std::size_t>(points.num_states()), 0.0) {}

void HullProgram::start(const SparseBelief& belief, std::span<const double> values) {
  const auto size = static_cast<Eigen::Index>(belief.states.size());
  points_.collect_within(belief, candidates_);
  candidates_.insert(candidates_.end(), belief.states.begin(), belief.states.end());
  entries_ = 0.0;
  for (const int i : candidates_) entries_ += static_cast<double>(points_[i].states.size());
  basis_ = belief.states;
  inverse_.setIdentity(size, size);
  weights_ = Eigen::Map<const Eigen::VectorXd>(belief.shares.data(), size);
  prices_.resize(size);
  for (Eigen::Index k = 0; k < size; ++k) {
    const int s = belief.states[static_cast<std::size_t>(k)];
    place_[static_cast<std::size_t>(s)] = static_cast<int>(k);
    prices_[k] = values[static_cast<std::size_t>(s)];
  }
  tolerance_ =
      1e-9 * (prices_.maxCoeff() - prices_.minCoeff()) + 1e-12 * prices_.cwiseAbs().maxCoeff();
}

// The point that is cheapest beside what the prices say; -1: none is cheaper.
int HullProgram::entering(std::span<const double> values) const {
  double least = -tolerance_;
  int best = -1;
  for (const int i : candidates_) {
    const SparseBelief& point = points_[i];
    double cost = values[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < point.states.size(); ++k) {
      cost -= point.shares[k] * price_[static_cast<std::size_t>(point.states[k])];
    }
    if (cost < least) {
      least = cost;
      best = i;
    }
  }
  return best;
}

bool HullProgram::pivot(int point, std::span<const double> values) {
  const SparseBelief& column = points_[point];
  direction_.setZero(weights_.size());
  for (std::size_t k = 0; k < column.states.size(); ++k) {
    const int place = place_[static_cast<std::size_t>(column.states[k])];
    direction_ += column.shares[k] * inverse_.col(place);
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
  const Eigen::RowVectorXd row = inverse_.row(leaving) / direction_[leaving];
  inverse_.noalias() -= direction_ * row;
  inverse_.row(leaving) = row;
  basis_[static_cast<std::size_t>(leaving)] = point;
  Eigen::VectorXd costs(weights_.size());
  for (Eigen::Index k = 0; k < costs.size(); ++k) {
    costs[k] = values[static_cast<std::size_t>(basis_[static_cast<std::size_t>(k)])];
  }
  prices_.noalias() = inverse_.transpose() * costs;
  return true;
}

Mixture HullProgram::mixture(const SparseBelief& belief) const {
  const double nothing = kDropped / (2.0 * static_cast<double>(weights_.size()));
  Eigen::VectorXd covered = Eigen::VectorXd::Zero(weights_.size());
  for (Eigen::Index k = 0; k < weights_.size(); ++k) {
    if (weights_[k] <= nothing) continue;
    const SparseBelief& point = points_[basis_[static_cast<std::size_t>(k)]];
    for (std::size_t j = 0; j < point.states.size(); ++j) {
      covered[place_[static_cast<std::size_t>(point.states[j])]] += weights_[k] * point.shares[j];
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
    if (weights_[k] > nothing) parts.emplace_back(basis_[i], fits * weights_[k]);
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
  const auto square = static_cast<double>(weights_.size() * weights_.size());
  work_ += 0.1 * points_.size();
  const int most = most_pivots(belief.states.size());
  for (int pivots = 0; pivots < most; ++pivots) {
    for (std::size_t k = 0; k < belief.states.size(); ++k) {
      price_[static_cast<std::size_t>(belief.states[k])] = prices_[static_cast<Eigen::Index>(k)];
    }
    work_ += entries_ + 3.0 * square;
    const int point = entering(values);
    if (point < 0 || !pivot(point, values)) break;
  }
  return mixture(belief);
}

}  // namespace oas::detail
