#include "oas/estimation/likelihood/detail/likelihood_climb.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace oas::detail {

namespace {

constexpr int kBatches = 512;
constexpr Eigen::Index kMostCoordinates = 600;  // beyond, solving costs more than passes
constexpr double kLeastCaution = 1e-8;          // keeps the system regular where nothing is seen
constexpr double kNearZero = 1e-4;              // an entry never shrinks by more in one step
constexpr double kSmallestEntry = 1e-300;
constexpr int kMostAttempts = 4;
constexpr std::size_t kMostChanges = 12;

TransitionModel normalised(const TransitionModel& like, std::vector<double> values) {
  const auto n = static_cast<std::ptrdiff_t>(like.num_states());
  for (auto row = values.begin(); row != values.end(); row += n) {
    const double sum = std::accumulate(row, row + n, 0.0);
    std::for_each(row, row + n, [&](double& value) { value /= sum; });
  }
  return {like.num_states(), like.num_actions(), std::move(values)};
}

}  // namespace

LikelihoodEstimate LikelihoodClimb::run(const TransitionModel& start) {
  Point best = visit(start, nullptr);
  LikelihoodEstimate estimate;
  estimate.start_log_likelihood = best.pass.log_likelihood;
  estimate.status =
      best.pass.possible() ? LikelihoodStatus::pass_limit : LikelihoodStatus::impossible;
  const auto began = std::chrono::steady_clock::now();
  while (estimate.status == LikelihoodStatus::pass_limit && passes_ < options_.max_passes) {
    if (best.to_gain <= options_.tolerance || stalled_) {
      estimate.status = LikelihoodStatus::converged;
      break;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (spent.count() >= options_.max_seconds) {
      estimate.status = LikelihoodStatus::time_limit;
      break;
    }
    ++estimate.steps;
    if (!options_.accelerate) {
      best = plain_step(std::move(best));
    } else if (best.free) {
      best = newton_step(std::move(best));
    } else {
      best = squared_step(std::move(best));
    }
  }
  estimate.passes = passes_;
  estimate.to_gain = best.to_gain;
  estimate.objective = best.objective;
  estimate.transition = std::move(best.transition);
  estimate.pass = std::move(best.pass);
  return estimate;
}

LikelihoodClimb::Point LikelihoodClimb::visit(const TransitionModel& transition,
                                              const Point* from) {
  ++passes_;
  Point point;
  point.transition = transition;
  const Eigen::Index size = FreeCoordinates(transition).size();
  PassOptions pass;
  if (size <= kMostCoordinates) pass.batches = std::max(kBatches, 2 * static_cast<int>(size));
  point.pass = likelihood_(transition, pass);
  point.objective = point.pass.log_likelihood;
  point.counts = point.pass.counts;
  point.slopes = point.pass.score;
  if (options_.prior > 0.0) {
    for (std::size_t i = 0; i < point.counts.size(); ++i) {
      const double value = transition.values()[i];
      if (value == 0.0) continue;  // it is part of a known structure
      point.objective += options_.prior * std::log(value);
      point.counts[i] += options_.prior;
      point.slopes[i] += options_.prior / value;
    }
  }
  maximize_expectation(point);
  if (from != nullptr) remember(*from, point);
  const auto batches = static_cast<Eigen::Index>(point.pass.batch_steps.size());
  if (size > 0 && batches >= 2 * size) add_information(point);
  point.to_gain = stretch_ * point.next_gain;
  if (point.free) point.to_gain = std::max(point.next_gain, solve(point, 0.0).predicted);
  point.pass.batch_scores.clear();
  return point;
}

// T(s,·) ∝ expected counts; a row without any stays as it is. An entry on its way to 0 never gets
// there: 0 would say that it is known to be impossible.
void LikelihoodClimb::maximize_expectation(Point& point) const {
  const TransitionModel& transition = point.transition;
  const auto n = static_cast<std::size_t>(transition.num_states());
  std::vector<double> values(transition.values().begin(), transition.values().end());
  for (std::size_t first = 0; first < values.size(); first += n) {
    double total = 0.0;
    for (std::size_t i = first; i < first + n; ++i) total += point.counts[i];
    if (!(total > 0.0)) continue;
    for (std::size_t i = first; i < first + n; ++i) {
      if (values[i] == 0.0) continue;  // part of a known structure
      const double value = std::max(point.counts[i] / total, kSmallestEntry);
      point.next_gain += point.counts[i] * std::log(value / values[i]);
      values[i] = value;
    }
  }
  point.next =
      TransitionModel(transition.num_states(), transition.num_actions(), std::move(values));
}

void LikelihoodClimb::add_information(Point& point) const {
  const auto values = point.transition.values();
  const auto n = static_cast<std::size_t>(point.transition.num_states());
  // An entry near 0 that wants to be smaller still, but would not win anything to speak of, is
  // where it belongs.
  std::vector<char> held(values.size(), 0);
  for (std::size_t first = 0; first < values.size(); first += n) {
    double row_slope = 0.0;
    for (std::size_t i = first; i < first + n; ++i) row_slope += values[i] * point.slopes[i];
    for (std::size_t i = first; i < first + n; ++i) {
      const double gain = values[i] * (row_slope - point.slopes[i]);
      held[i] = point.slopes[i] < row_slope && values[i] < kNearZero &&
                gain < 0.01 * options_.tolerance / static_cast<double>(values.size());
    }
  }
  point.free.emplace(point.transition, held);
  point.score = point.free->reduce(point.slopes.data());
  point.complete = point.free->complete_information(point.transition, point.counts);
  point.batches = point.free->batch_information(point.pass);
  if (options_.prior > 0.0) {
    const std::vector<double> prior(values.size(), options_.prior);
    point.batches += point.free->complete_information(point.transition, prior);
  }
  correct_information(point);
}

void LikelihoodClimb::correct_information(Point& point) const {
  const FreeCoordinates& free = *point.free;
  point.information = point.batches;
  for (const Change& change : changes_) {
    Vector step(free.size());
    for (Eigen::Index i = 0; i < free.size(); ++i) step(i) = change.entries[free.entry(i)];
    const Vector fall = -free.reduce(change.slopes.data());
    const Vector expected = point.information * step;
    const double curvature = step.dot(fall);
    const double expected_curvature = step.dot(expected);
    if (!(curvature > 1e-4 * expected_curvature) || !(expected_curvature > 0.0)) continue;
    point.information +=
        fall * fall.transpose() / curvature - expected * expected.transpose() / expected_curvature;
  }
}

void LikelihoodClimb::remember(const Point& from, const Point& to) {
  if (!to.pass.possible()) return;
  Change change;
  for (std::size_t i = 0; i < from.slopes.size(); ++i) {
    change.entries.push_back(to.transition.values()[i] - from.transition.values()[i]);
    change.slopes.push_back(to.slopes[i] - from.slopes[i]);
  }
  if (changes_.size() == kMostChanges) changes_.erase(changes_.begin());
  changes_.push_back(std::move(change));
}

// (H + μ D) d = g; entries that would fall below 0 are put close to it and the rest solved again.
LikelihoodClimb::Move LikelihoodClimb::solve(const Point& from, double caution) const {
  const FreeCoordinates& free = *from.free;
  if (free.size() == 0) return {from.transition, 0.0};  // every entry is where it belongs
  const auto values = from.transition.values();
  Matrix system = from.information + (caution + kLeastCaution) * from.complete;
  system.diagonal().array() += 1e-12 * (1.0 + system.diagonal().maxCoeff());
  Vector right = from.score;
  Vector step = Vector::Zero(free.size());
  std::vector<char> fixed(static_cast<std::size_t>(free.size()), 0);
  for (bool again = true; again;) {
    again = false;
    step = system.llt().solve(right);
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      const double lowest = (kNearZero - 1.0) * values[free.entry(i)];
      if (fixed[static_cast<std::size_t>(i)] != 0 || step(i) >= lowest) continue;
      // Row and column i leave the system.
      fixed[static_cast<std::size_t>(i)] = 1;
      right -= lowest * system.col(i);
      system.row(i).setZero();
      system.col(i).setZero();
      system(i, i) = 1.0;
      right(i) = lowest;
      for (Eigen::Index j = 0; j < free.size(); ++j) {
        if (j != i && fixed[static_cast<std::size_t>(j)] != 0) {
          right(j) = (kNearZero - 1.0) * values[free.entry(j)];
        }
      }
      again = true;
    }
  }
  // The largest entry of a row must not become negative either.
  std::vector<double> moved(values.begin(), values.end());
  for (Eigen::Index i = 0; i < free.size(); ++i) moved[free.reference(i)] -= step(i);
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    const double value = values[free.reference(i)];
    if (moved[free.reference(i)] < 0.1 * value) {
      step(i) *= 0.9 * value / (value - moved[free.reference(i)]);
    }
  }
  moved.assign(values.begin(), values.end());
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    moved[free.entry(i)] += step(i);
    moved[free.reference(i)] -= step(i);
  }
  Move move;
  move.predicted = from.score.dot(step) - 0.5 * step.dot(from.information * step);
  move.transition = normalised(from.transition, std::move(moved));
  return move;
}

LikelihoodClimb::Point LikelihoodClimb::plain_step(Point from) {
  Point to = visit(from.next, options_.accelerate ? &from : nullptr);
  if (to.objective < from.objective) {  // by rounding only: it cannot fall otherwise
    stalled_ = true;
    return from;
  }
  if ((!to.free || !options_.accelerate) && from.next_gain > to.next_gain) {
    // Gains fall geometrically in the end; this is what the rest of them will add up to.
    stretch_ = 1.0 / (1.0 - std::sqrt(to.next_gain / from.next_gain));
    to.to_gain = std::max(to.to_gain, stretch_ * to.next_gain);
  }
  return to;
}

LikelihoodClimb::Point LikelihoodClimb::newton_step(Point from) {
  for (int attempt = 0; attempt < kMostAttempts && passes_ < options_.max_passes; ++attempt) {
    const Move move = solve(from, caution_);
    if (move.predicted < from.next_gain) break;  // far moves have spoilt the information
    Point to = visit(move.transition, &from);
    const double gain = to.objective - from.objective;
    if (gain >= 0.0) {
      if (gain > 0.75 * move.predicted) caution_ *= 0.1;
      if (gain < 0.25 * move.predicted) caution_ = std::max(4.0 * caution_, 0.01);
      return to;
    }
    caution_ = std::max(8.0 * caution_, 0.03);
    correct_information(from);
  }
  changes_.clear();
  return plain_step(std::move(from));
}

// Two steps of expectation-maximisation and an extrapolation along them; kept only where the
// objective does not fall.
LikelihoodClimb::Point LikelihoodClimb::squared_step(Point from) {
  Point middle = plain_step(from);
  if (stalled_) return from;
  const auto t0 = from.transition.values();
  const auto t1 = middle.transition.values();
  const auto t2 = middle.next.values();
  double r_square = 0.0;
  double v_square = 0.0;
  for (std::size_t i = 0; i < t0.size(); ++i) {
    const double r = t1[i] - t0[i];
    const double v = t2[i] - t1[i] - r;
    r_square += r * r;
    v_square += v * v;
  }
  double length = v_square > 0.0 ? std::sqrt(r_square / v_square) : 1.0;
  stretch_ = std::max(length, 1.0);
  std::vector<double> values(t0.size());
  for (; length > 1.01 && passes_ < options_.max_passes; length = 0.5 * (length + 1.0)) {
    bool inside = true;
    for (std::size_t i = 0; i < t0.size(); ++i) {
      const double r = t1[i] - t0[i];
      const double v = t2[i] - t1[i] - r;
      values[i] = t0[i] + 2.0 * length * r + length * length * v;
      inside = inside && (values[i] > 0.0 || t0[i] == 0.0);
    }
    if (!inside) continue;
    Point far = visit(normalised(from.transition, values), nullptr);
    if (far.objective >= middle.objective) return far;
    break;
  }
  return plain_step(std::move(middle));
}

}  // namespace oas::detail
