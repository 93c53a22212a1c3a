#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/estimation/sensors/detail/sensor_profile.hpp"

/// Second derivatives by sensors and transitions, from batches and by differences.
namespace oas::detail {

namespace {

constexpr double kMostCross = 4e6;              // numbers of the matrix by Z and T
constexpr Eigen::Index kMostDifferences = 200;  // coordinates; each costs a pass
constexpr double kStep = 1e-4;                  // of a difference, relative
constexpr double kSmallEntry = 1e-3;

}  // namespace

SensorProfile::Batches SensorProfile::batches_of(const Point& point) const {
  const LikelihoodPass& pass = point.pass;
  const auto count = static_cast<Eigen::Index>(pass.batch_steps.size());
  const auto entries = static_cast<Eigen::Index>(pass.score.size());
  const auto steps = static_cast<double>(
      std::accumulate(pass.batch_steps.begin(), pass.batch_steps.end(), std::int64_t{0}));
  const Vector mean = Eigen::Map<const Vector>(pass.score.data(), entries) / steps;
  Batches batches = {Matrix(count, rows_.size()), Matrix(count, entries)};
  for (Eigen::Index b = 0; b < count; ++b) {
    const auto index = static_cast<std::size_t>(b);
    const auto weight = static_cast<double>(pass.batch_steps[index]);
    const Vector emitted =
        rows_.fold(pass.batch_emission_counts.data() + index * pass.emission_counts.size());
    batches.sensors.row(b) =
        (emitted.cwiseQuotient(point.sensors) - weight / steps * point.slopes).transpose();
    batches.transition.row(b) =
        (Eigen::Map<const Vector>(pass.batch_scores.data() + index * pass.score.size(), entries) -
         weight * mean)
            .transpose();
  }
  return batches;
}

void SensorProfile::learn_from_batches(const Point& point) {
  const auto count = static_cast<Eigen::Index>(point.pass.batch_steps.size());
  const Eigen::Index coordinates = rows_.size() - rows_.size() / rows_.width();
  doubt_ = 1.0;
  if (count < 2 * coordinates) {  // as if all states had been seen: expectation-maximisation
    const Matrix complete = point.slopes.cwiseQuotient(point.sensors).asDiagonal();
    information_ = rows_.centred(rows_.centred(complete).transpose());
    return;
  }
  const Batches batches = batches_of(point);
  const Matrix centred = rows_.centred(batches.sensors.transpose());
  information_ = centred * centred.transpose();
  const double size =
      static_cast<double>(rows_.size()) * static_cast<double>(point.pass.score.size());
  if (size <= kMostCross) cross_ = centred * batches.transition;
}

// Kept only where the whole information is positive with it: a maximum.
void SensorProfile::learn_by_differences(const TransitionModel& transition, const Point& point) {
  const SensorCoordinates& free = point.free;
  const auto entries = static_cast<Eigen::Index>(point.pass.score.size());
  const double size = static_cast<double>(rows_.size()) * static_cast<double>(entries);
  if (free.size() == 0 || free.size() > kMostDifferences || size > kMostCross) return;
  Matrix by_sensors(rows_.size(), free.size());
  Matrix by_transition(entries, free.size());
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    Vector sensors = point.sensors;
    const double step = kStep * std::max(sensors(free.entry(i)), kSmallEntry);
    sensors(free.entry(i)) += step;
    sensors(free.reference(i)) -= step;
    const Point near = visit(transition, sensors, {});
    if (!near.pass.possible()) return;
    by_sensors.col(i) = (point.slopes - near.slopes) / step;
    by_transition.col(i) = (Eigen::Map<const Vector>(point.pass.score.data(), entries) -
                            Eigen::Map<const Vector>(near.pass.score.data(), entries)) /
                           step;
  }
  const Matrix basis = free.expand(Matrix::Identity(free.size(), free.size()));
  const Matrix inverse = (basis.transpose() * basis).llt().solve(basis.transpose());
  Matrix learned = rows_.centred(by_sensors) * inverse;
  learned = 0.5 * (learned + learned.transpose()).eval();
  std::swap(information_, learned);
  if (whole_information(point, 0.0).llt().info() != Eigen::Success) {
    std::swap(information_, learned);
    return;
  }
  cross_ = (by_transition * inverse).transpose();
  doubt_ = kStep * 10.0;
  caution_ = 0.0;
}

// Scores of batches less what they say along the sensors, K (J + C)⁻¹ g. Labelled rows, of
// information C, are batches too: two for each coordinate, of opposite signs.
void SensorProfile::purge_batches(const Point& point, LikelihoodPass& pass) const {
  const auto count = static_cast<Eigen::Index>(pass.batch_steps.size());
  const SensorCoordinates& free = point.free;
  if (count == 0 || free.size() == 0) return;
  const Batches batches = batches_of(point);
  const Matrix sensors = free.reduce(batches.sensors.transpose());
  const Matrix exact = labelled_.cwiseQuotient(point.sensors.cwiseAbs2()).asDiagonal();
  const Matrix labelled = free.reduce_square(exact);
  const Matrix whole = sensors * sensors.transpose() + labelled;
  const Matrix slope = whole.llt().solve(sensors * batches.transition);  // [coordinate][a s s']
  const auto entries = static_cast<Eigen::Index>(pass.score.size());
  for (Eigen::Index b = 0; b < count; ++b) {
    Eigen::Map<Vector> score(pass.batch_scores.data() + b * entries, entries);
    score -= slope.transpose() * sensors.col(b);
  }
  const Matrix root = labelled.llt().matrixL();
  const Matrix more = slope.transpose() * root / std::sqrt(2.0);
  for (Eigen::Index i = 0; i < more.cols(); ++i) {
    for (const double sign : {1.0, -1.0}) {
      const Vector score = sign * more.col(i);
      pass.batch_scores.insert(pass.batch_scores.end(), score.data(), score.data() + entries);
      pass.batch_steps.push_back(0);
    }
  }
}

}  // namespace oas::detail
