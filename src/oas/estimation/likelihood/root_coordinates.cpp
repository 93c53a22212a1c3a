#include "oas/estimation/likelihood/detail/root_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace oas::detail {

namespace {

constexpr double kLargestTurn = 0.5;       // of a row in one step
constexpr double kLeastLeft = 0.2;         // of a root, after one step
constexpr double kSmallestEntry = 1e-300;  // 0 would say that it is known to be impossible

}  // namespace

RootCoordinates::RootCoordinates(const TransitionModel& at, const std::vector<double>& visits)
    : num_states_(at.num_states()), num_actions_(at.num_actions()) {
  unit_ = VectorView(visits.data(), static_cast<Eigen::Index>(visits.size()));
  unit_ = 2.0 * unit_.cwiseMax(1.0).cwiseSqrt();
}

Vector RootCoordinates::roots(const TransitionModel& at) {
  return VectorView(at.values().data(), static_cast<Eigen::Index>(at.values().size())).cwiseSqrt();
}

TransitionModel RootCoordinates::model(const Vector& roots) const {
  std::vector<double> values(static_cast<std::size_t>(roots.size()));
  const auto n = static_cast<std::size_t>(num_states_);
  for (std::size_t first = 0; first < values.size(); first += n) {
    const auto row = roots.segment(static_cast<Eigen::Index>(first), num_states_);
    const double sum = row.squaredNorm();
    for (std::size_t i = 0; i < n; ++i) {
      const double root = row(static_cast<Eigen::Index>(i));
      if (root > 0.0) values[first + i] = std::max(root * root / sum, kSmallestEntry);
    }
  }
  return {num_states_, num_actions_, std::move(values)};
}

// Less the mean of their row.
Vector RootCoordinates::centred(const Vector& roots, const double* derivatives) const {
  Vector centred(roots.size());
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    const auto root = roots.segment(row * num_states_, num_states_).array();
    const auto by_entry = VectorView(derivatives + row * num_states_, num_states_).array();
    const double mean = (root.square() * by_entry).sum() / root.square().sum();
    centred.segment(row * num_states_, num_states_) = by_entry - mean;
  }
  return centred;
}

Vector RootCoordinates::slope(const Vector& roots, const double* derivatives) const {
  Vector slope = 2.0 * roots.cwiseProduct(centred(roots, derivatives));
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    slope.segment(row * num_states_, num_states_) /= unit_(row);
  }
  return slope;
}

void RootCoordinates::project(const Vector& roots, Vector& vector) const {
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    const auto root = roots.segment(row * num_states_, num_states_);
    auto part = vector.segment(row * num_states_, num_states_);
    part = (root.array() > 0.0).select(part, 0.0);
    part -= (root.dot(part) / root.squaredNorm()) * root;
  }
}

Vector RootCoordinates::moved(const Vector& roots, const Vector& step) const {
  Vector moved(roots.size());
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    const auto root = roots.segment(row * num_states_, num_states_);
    Vector change = step.segment(row * num_states_, num_states_) / unit_(row);
    const double length = change.norm();
    if (length > kLargestTurn) change *= kLargestTurn / length;
    auto to = moved.segment(row * num_states_, num_states_);
    to = (root + change).cwiseMax(kLeastLeft * root);
    to = (root.array() > 0.0).select(to, 0.0).eval();
    to /= to.norm();
  }
  return moved;
}

Vector RootCoordinates::between(const Vector& from, const Vector& to) const {
  Vector step = to - from;
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    step.segment(row * num_states_, num_states_) *= unit_(row);
  }
  project(from, step);
  return step;
}

double RootCoordinates::turn(const Vector& step) const {
  double sum = 0.0;
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    sum += step.segment(row * num_states_, num_states_).squaredNorm() / (unit_(row) * unit_(row));
  }
  return std::sqrt(sum / static_cast<double>(step.size()));
}

Vector RootCoordinates::entries(const Vector& roots, const Vector& step) const {
  Vector change = 2.0 * roots.cwiseProduct(step);
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    change.segment(row * num_states_, num_states_) /= unit_(row);
  }
  return change;
}

Vector RootCoordinates::spread(const Vector& roots, const LikelihoodPass& pass) const {
  Vector spread = Vector::Zero(roots.size());
  const std::size_t size = pass.score.size();
  const auto steps = static_cast<double>(
      std::accumulate(pass.batch_steps.begin(), pass.batch_steps.end(), std::int64_t{0}));
  const Vector mean = centred(roots, pass.score.data()) / steps;
  for (std::size_t b = 0; b < pass.batch_steps.size(); ++b) {
    const Vector own = centred(roots, pass.batch_scores.data() + b * size) -
                       static_cast<double>(pass.batch_steps[b]) * mean;
    spread += own.cwiseAbs2();
  }
  return spread;
}

Vector RootCoordinates::diagonal(const Vector& roots, const double* derivatives,
                                 const Vector& spread, double least) const {
  const Vector push = (-centred(roots, derivatives)).cwiseMax(0.0);
  Vector diagonal = 4.0 * roots.cwiseAbs2().cwiseProduct(spread) + 2.0 * push;
  for (Eigen::Index row = 0; row < unit_.size(); ++row) {
    diagonal.segment(row * num_states_, num_states_) /= unit_(row) * unit_(row);
  }
  return diagonal.cwiseMin(1.0).cwiseMax(least);
}

}  // namespace oas::detail
