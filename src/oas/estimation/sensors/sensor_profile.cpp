#include "oas/estimation/sensors/detail/sensor_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace oas::detail {

namespace {

constexpr int kFirstBatches = 512;
constexpr double kBatchRows = 512.0;
constexpr int kMostPoints = 200;          // in one climb
constexpr int kMostSensorAttempts = 4;    // at a Newton step
constexpr double kFarMove = 0.2;          // of an entry of T: start anew
constexpr double kLeastLeft = 0.1;        // of an entry, after one step
constexpr double kTight = 1e-8;           // standard errors, for differences of scores
constexpr double kLoose = 1e-5;           // for a climb
constexpr double kSensorRounding = 1e-9;  // standard errors below which nothing is to be won
constexpr double kLeastDoubt = 1e-3;
constexpr int kFreePasses = 2;  // of a call: no information could save these

}  // namespace

SensorProfile::SensorProfile(LikelihoodFunction likelihood, const Pomdp& model, double prior)
    : likelihood_(std::move(likelihood)),
      rows_(model.observation_counts().value()),
      labelled_(rows_.labelled().array() + prior),
      start_(rows_.normalised(rows_.from(model.sensors()).cwiseMax(1e-6))) {
  best_labelled_ = labelled_.dot(rows_.normalised(labelled_).array().log().matrix());
}

SensorProfile::Point SensorProfile::visit(const TransitionModel& transition, const Vector& sensors,
                                          const PassOptions& options) {
  ++passes_;
  Point point;
  point.sensors = sensors;
  PassOptions with = options;
  with.sensors = rows_.to_sensors(sensors);
  with.emissions = true;
  with.batches = useful_batches(options.batches, transition);
  point.pass = likelihood_(transition, with);
  steps_ = std::round(std::accumulate(point.pass.counts.begin(), point.pass.counts.end(), 0.0));
  point.objective =
      point.pass.log_likelihood - best_labelled_ + labelled_.dot(sensors.array().log().matrix());
  point.emitted = rows_.fold(point.pass.emission_counts.data());
  point.slopes = point.emitted.cwiseQuotient(sensors);
  return point;
}

// Scores of short batches hang together, and what remains of an information when sensors are not
// known is a small difference: batches are long where that leaves enough of them.
int SensorProfile::useful_batches(int wanted, const TransitionModel& transition) const {
  if (wanted == 0 || steps_ == 0.0) return wanted;
  const double entries =
      static_cast<double>(transition.values().size()) + static_cast<double>(rows_.size());
  return std::min(wanted, static_cast<int>(std::max(4.0 * entries, steps_ / kBatchRows)));
}

// By coordinates: what the log has, what labelled rows have, and `caution` times what the log would
// have if all states had been seen.
Matrix SensorProfile::whole_information(const Point& point, double caution) const {
  const Vector exact =
      (labelled_ + caution * point.emitted).cwiseQuotient(point.sensors.cwiseAbs2());
  Matrix whole = exact.asDiagonal();
  whole += information_;
  return point.free.reduce_square(whole);
}

void SensorProfile::look_ahead(Point& point) const {
  point.free = SensorCoordinates(point.sensors, rows_.width());
  const Vector slopes = point.slopes + labelled_.cwiseQuotient(point.sensors);
  point.gradient = point.free.reduce(slopes);
  double caution = caution_;
  point.information.compute(whole_information(point, caution));
  while (point.information.info() != Eigen::Success && caution < 1e6) {
    caution = std::max(1e-3, 4.0 * caution);
    point.information.compute(whole_information(point, caution));
  }
  const Vector step = point.information.solve(point.gradient);
  point.square = point.gradient.dot(step);
  point.step = point.free.expand(step);
}

// Newton's step, or a part of it, so that no entry falls to less than a tenth.
Vector SensorProfile::moved(const Point& from, const Vector& step) const {
  Vector target = from.sensors + step;
  for (Eigen::Index first = 0; first < target.size(); first += rows_.width()) {
    double share = 1.0;
    for (Eigen::Index i = first; i < first + rows_.width(); ++i) {
      if (target(i) >= kLeastLeft * from.sensors(i)) continue;
      share = std::min(share, (1.0 - kLeastLeft) * from.sensors(i) / (from.sensors(i) - target(i)));
    }
    const auto row = Eigen::seqN(first, rows_.width());
    target(row) = from.sensors(row) + share * (target(row) - from.sensors(row));
  }
  return rows_.normalised(std::move(target));
}

// The last sensors, moved along dZ = -J⁻¹ K dT.
Vector SensorProfile::first_guess(const TransitionModel& transition) const {
  if (!last_) return start_;
  Vector change(static_cast<Eigen::Index>(last_transition_.size()));
  for (std::size_t i = 0; i < last_transition_.size(); ++i) {
    change(static_cast<Eigen::Index>(i)) = transition.values()[i] - last_transition_[i];
  }
  if (change.cwiseAbs().maxCoeff() > kFarMove) return start_;
  Vector step = last_->step;
  if (cross_.size() > 0) {
    const Vector pull = last_->free.reduce(cross_ * change);
    step -= Vector(last_->free.expand(last_->information.solve(pull)));
  }
  return moved(*last_, step);
}

// A climb can do with less than differences of scores need.
bool SensorProfile::is_settled(const Point& point, const PassOptions& options) const {
  const double left = std::sqrt(std::max(0.0, point.square));
  const double doubt = cross_.size() > 0 ? doubt_ : 1.0;
  return stalled_ || left < kSensorRounding ||
         left * doubt < (options.batches > 0 ? kLoose : kTight);
}

// BFGS on what the log's rows say.
void SensorProfile::remember(const Point& from, const Point& to) {
  if (!to.pass.possible()) return;
  const Vector step = to.sensors - from.sensors;
  const Vector fall = rows_.centred(from.slopes - to.slopes);
  const Vector expected = information_ * step;
  const double curvature = step.dot(fall);
  const double before = step.dot(expected);
  if (!(curvature > 1e-4 * before) || !(before > 0.0)) return;
  information_ += fall * fall.transpose() / curvature - expected * expected.transpose() / before;
}

SensorProfile::Point SensorProfile::improve(const TransitionModel& transition,
                                            const PassOptions& options, Point from) {
  const double rounding = 1e-13 * (1.0 + std::abs(from.objective));
  for (int attempt = 0; attempt < kMostSensorAttempts; ++attempt) {
    Point to = visit(transition, moved(from, from.step), options);
    remember(from, to);
    look_ahead(to);
    const double gain = to.objective - from.objective;
    if (0.5 * from.square < 10.0 * rounding) {  // the slope alone can tell
      stalled_ = !(to.square < from.square);
      if (!stalled_) doubt_ = std::max(kLeastDoubt, std::sqrt(to.square / from.square));
      return stalled_ ? from : to;
    }
    if (gain >= -rounding) {
      doubt_ = std::clamp(std::sqrt(std::max(0.0, to.square) / from.square), kLeastDoubt, 1.0);
      caution_ = gain > 0.375 * from.square ? 0.1 * caution_ : caution_;
      return to;
    }
    caution_ = std::max(8.0 * caution_, 0.03);
    look_ahead(from);
  }
  Point to = visit(transition, rows_.normalised(from.emitted + labelled_), options);
  look_ahead(to);
  doubt_ = 1.0;
  stalled_ = to.objective < from.objective;  // by rounding only
  return stalled_ ? from : to;
}

SensorProfile::Point SensorProfile::climb(const TransitionModel& transition,
                                          const PassOptions& options) {
  PassOptions first = options;
  if (information_.size() == 0) first.batches = std::max(first.batches, kFirstBatches);
  Point point = visit(transition, first_guess(transition), first);
  if (!point.pass.possible() && last_) point = visit(transition, start_, first);
  if (!point.pass.possible()) return point;
  if (information_.size() == 0) learn_from_batches(point);
  stalled_ = false;
  look_ahead(point);
  for (int i = 1; i < kMostPoints && !is_settled(point, options); ++i) {
    point = improve(transition, options, std::move(point));
  }
  settled_ = is_settled(point, options);
  return point;
}

LikelihoodPass SensorProfile::pass(const TransitionModel& transition, const PassOptions& options) {
  const int before = passes_;
  Point point = climb(transition, options);
  LikelihoodPass pass = point.pass;
  pass.emission_counts.clear();
  pass.batch_emission_counts.clear();
  if (!pass.possible()) return pass;
  wasted_ += std::max(0, passes_ - before - kFreePasses);
  if (wasted_ >= point.free.size()) {
    learn_by_differences(transition, point);
    look_ahead(point);
    wasted_ = 0;
  }
  log_likelihood_ = pass.log_likelihood;
  pass.log_likelihood = point.objective + 0.5 * point.square;
  if (cross_.size() > 0) {  // expected counts stay: they must not become negative
    const Vector rest = cross_.transpose() * point.step;
    for (std::size_t i = 0; i < pass.score.size(); ++i) {
      pass.score[i] -= rest(static_cast<Eigen::Index>(i));
    }
  }
  if (options.batches > 0) {
    purge_batches(point, pass);
  } else {
    pass.batch_scores.clear();
    pass.batch_steps.clear();
  }
  last_transition_.assign(transition.values().begin(), transition.values().end());
  last_ = std::move(point);
  return pass;
}

ObservationModel SensorProfile::sensors() const {
  return *rows_.to_sensors(last_ ? moved(*last_, last_->step) : start_);
}

}  // namespace oas::detail
