#include "oas/planning/horizon/detail/horizon_bounds.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace oas::detail {

int LowerBound::add(ConditionalPlan plan) {
  const auto number = static_cast<int>(plans_.size());
  const auto width = static_cast<std::size_t>(plan.alpha.size());
  const double* alpha = plan.alpha.data();
  const auto row = [&](std::size_t k) { return vectors_.data() + k * width; };
  const auto nowhere_above = [&](const double* x, const double* y) {
    return std::equal(x, x + width, y, [](double p, double q) { return p <= q; });
  };
  std::size_t kept = 0;
  bool needed = true;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    needed = needed && !nowhere_above(alpha, row(k));
    if (needed && nowhere_above(row(k), alpha)) continue;
    active_[kept] = active_[k];
    if (kept != k) std::copy(row(k), row(k) + width, row(kept));
    ++kept;
  }
  active_.resize(kept);
  vectors_.resize(kept * width);
  if (needed) {
    active_.push_back(number);
    vectors_.insert(vectors_.end(), alpha, alpha + width);
  }
  plans_.push_back(std::move(plan));
  return number;
}

LowerBound::Best LowerBound::best(const double* x) const {
  const auto width = static_cast<Eigen::Index>(vectors_.size() / active_.size());
  const VectorView weights(x, width);
  Best best{-std::numeric_limits<double>::infinity(), 0};
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const double value =
        VectorView(vectors_.data() + static_cast<Eigen::Index>(k) * width, width).dot(weights);
    if (value > best.value) best = {value, active_[k]};
  }
  return best;
}

UpperBound::UpperBound(Eigen::MatrixXd informed)
    : informed_(std::move(informed)), corners_(informed_.rowwise().maxCoeff()) {}

double UpperBound::saw(const Point& point, const double* x, double best) {
  double share = std::numeric_limits<double>::infinity();
  for (const Mass& mass : point.support) {
    share = std::min(share, x[mass.state] / mass.probability);
    if (share * point.below >= best) return 0.0;
  }
  return share * point.below;
}

double UpperBound::value(const double* x) const {
  const VectorView weights(x, corners_.size());
  double deepest = 0.0;
  for (const Point& point : points_) deepest = std::min(deepest, saw(point, x, deepest));
  const double value =
      std::min(corners_.dot(weights) + deepest, (informed_.transpose() * weights).maxCoeff());
  return grid_ ? std::min(value, on_grid(x)) : value;
}

void UpperBound::set_grid(std::shared_ptr<const BeliefGrid> grid, std::vector<double> values) {
  grid_ = std::move(grid);
  grid_values_ = std::move(values);
  for (int s = 0; s < grid_->num_states(); ++s) set_corner(s, grid_values_[grid_->corner(s)]);
}

double UpperBound::on_grid(const double* x) const {
  const VectorView weights(x, corners_.size());
  const double mass = weights.sum();
  std::array<double, kMaxGridStates> belief;
  std::array<std::uint32_t, kMaxGridStates> vertices;
  std::array<double, kMaxGridStates> shares;
  for (Eigen::Index s = 0; s < corners_.size(); ++s) {
    belief[static_cast<std::size_t>(s)] = x[s] / mass;
  }
  const int count =
      grid_->interpolate(std::span(belief).first(static_cast<std::size_t>(corners_.size())),
                         vertices.data(), shares.data());
  double value = 0.0;
  for (int k = 0; k < count; ++k) value += shares[k] * grid_values_[vertices[k]];
  return mass * value;
}

void UpperBound::add(const Eigen::VectorXd& belief, double v) {
  Point point{{}, v, v - corners_.dot(belief)};
  for (Eigen::Index s = 0; s < belief.size(); ++s) {
    if (belief[s] > 0.0) point.support.push_back({static_cast<int>(s), belief[s]});
  }
  if (point.support.size() == 1) return set_corner(point.support.front().state, v);
  entries_ += point.support.size();
  points_.push_back(std::move(point));
  if (points_.size() >= prune_at_) prune();
}

void UpperBound::set_corner(int state, double v) {
  corners_[state] = std::min(corners_[state], v);
  for (Point& point : points_) {
    double corners = 0.0;
    for (const Mass& mass : point.support) corners += mass.probability * corners_[mass.state];
    point.below = point.value - corners;
  }
}

// Drops points that others undercut at their own belief: these then do so everywhere.
void UpperBound::prune() {
  std::vector<double> belief(static_cast<std::size_t>(corners_.size()), 0.0);
  for (std::size_t i = 0; i < points_.size();) {
    for (const Mass& mass : points_[i].support) belief[mass.state] = mass.probability;
    bool needed = points_[i].below < 0.0;
    for (std::size_t j = 0; j < points_.size() && needed; ++j) {
      needed = j == i || saw(points_[j], belief.data(), 0.0) > points_[i].below;
    }
    for (const Mass& mass : points_[i].support) belief[mass.state] = 0.0;
    if (needed) {
      ++i;
    } else {
      entries_ -= points_[i].support.size();
      points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  prune_at_ = std::max<std::size_t>(2 * points_.size(), 32);
}

}  // namespace oas::detail
