#include "oas/live/detail/live_detector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

// More numbers than this are not kept for contexts.
constexpr std::size_t kMostCells = 1 << 16;
// Rows of a context after which a row counts 1/e.
constexpr double kMemory = 2000.0;
// Expected rows that the rival is given beforehand: it departs from p only on evidence.
constexpr double kCaution = 10.0;
// Rows per free entry of T below which the error of an estimate is anybody's guess.
constexpr double kRowsPerEntry = 10.0;
// -log of the probability that an estimate is worse than it is allowed to be.
constexpr double kDoubt = 7.0;
// No probability is held to be smaller: an observation that is merely unforeseen is no proof.
constexpr double kLeast = 1e-6;

}  // namespace

LiveDetector::LiveDetector(const Pomdp& sensors, double steps_per_false_alarm)
    : sensors_(sensors.without_transition()), threshold_(steps_per_false_alarm) {
  const auto num_actions = static_cast<std::size_t>(sensors.num_actions());
  const auto num_observations = static_cast<std::size_t>(sensors.num_observations());
  by_last_ = num_actions * (num_observations + 1) * num_observations <= kMostCells;
  const std::size_t contexts = num_actions * (by_last_ ? num_observations + 1 : 1);
  observed_.resize(contexts * num_observations);
  expected_.resize(observed_.size());
  predicted_.resize(num_observations);
  moved_.resize(static_cast<std::size_t>(sensors.num_states()));
}

void LiveDetector::hold_true(const TransitionModel& transition, std::int64_t rows) {
  const double free = static_cast<double>(sensors_.num_actions()) * sensors_.num_states() *
                      (sensors_.num_states() - 1);
  suspend();
  if (rows > 0 && static_cast<double>(rows) < kRowsPerEntry * free) return;
  const double largest = free + 2.0 * std::sqrt(kDoubt * free) + 2.0 * kDoubt;
  allowance_ = rows > 0 ? largest / (2.0 * static_cast<double>(rows)) : 0.0;
  transition_ = transition;
  filter_.emplace(sensors_.with_transition(transition));
  std::fill(observed_.begin(), observed_.end(), 0.0);
  std::fill(expected_.begin(), expected_.end(), 0.0);
}

void LiveDetector::suspend() {
  filter_.reset();
  transition_.reset();
  allowance_ = 0.0;
  tested_ = 0;
  evidence_ = 0.0;
  alarmed_ = false;
}

// P(o | belief, action), mixed with a little of uniform.
void LiveDetector::predict(std::span<const double> belief, Action action) {
  std::span<const double> emitting = belief;
  if (sensors_.timing() == Timing::after) {
    std::fill(moved_.begin(), moved_.end(), 0.0);
    for (State s{0}; s < sensors_.num_states(); ++s) {
      transition_->for_each_next(action, s, [&](State next, double p) {
        moved_[static_cast<std::size_t>(next)] += belief[static_cast<std::size_t>(s)] * p;
      });
    }
    emitting = moved_;
  }
  for (Observation o{0}; o < sensors_.num_observations(); ++o) {
    double sum = 0.0;
    for (State s{0}; s < sensors_.num_states(); ++s) {
      sum += emitting[static_cast<std::size_t>(s)] * sensors_.sensors()(action, s, o);
    }
    predicted_[static_cast<std::size_t>(o)] =
        (1.0 - kLeast) * sum + kLeast / sensors_.num_observations();
  }
}

std::size_t LiveDetector::context(const Watch& watch, Action action) const {
  if (!by_last_) return static_cast<std::size_t>(action);
  const int symbols = sensors_.num_observations() + 1;
  const int before = watch.before == kMissing ? symbols - 1 : watch.before.value();
  return static_cast<std::size_t>(action * symbols + before);
}

void LiveDetector::see(Watch& watch, const SeenRow& row, std::int64_t number) {
  if (row.observation != kMissing) {
    predict(watch.belief, row.action);
    test(context(watch, row.action), row.observation, number);
  }
  filter_->reset(watch.belief);
  filter_->update(row);
  watch.belief = filter_->copied();
  watch.before = row.observation;
}

void LiveDetector::test(std::size_t context, Observation observation, std::int64_t row) {
  const std::size_t count = predicted_.size();
  const std::span observed = std::span(observed_).subspan(context * count, count);
  const std::span expected = std::span(expected_).subspan(context * count, count);
  const auto seen = static_cast<std::size_t>(observation);
  double sum = 0.0;
  const auto rival = [&](std::size_t o) {
    const double ease = kCaution * predicted_[o] + 1.0;
    return predicted_[o] * (observed[o] + ease) / (expected[o] + ease);
  };
  for (std::size_t o = 0; o < count; ++o) sum += rival(o);
  evidence_ = std::min((1.0 + evidence_) * rival(seen) / sum / predicted_[seen],
                       std::numeric_limits<double>::max() / 1e10);
  for (std::size_t o = 0; o < count; ++o) {
    observed[o] *= 1.0 - 1.0 / kMemory;
    expected[o] = expected[o] * (1.0 - 1.0 / kMemory) + predicted_[o];
  }
  observed[seen] += 1.0;
  const double allowed = allowance_ * static_cast<double>(++tested_);
  if (alarmed_ || std::log(evidence_) < std::log(threshold_) + allowed) return;
  alarmed_ = true;
  ++alarms_;
  last_alarm_ = row;
}

void LiveDetector::save(ByteWriter& out) const {
  out.put_all(observed_);
  out.put_all(expected_);
  out.put(tested_);
  out.put(evidence_);
  out.put(alarmed_);
  out.put(alarms_);
  out.put(last_alarm_);
}

void LiveDetector::load(ByteReader& in) {
  observed_ = in.get_all<double>(observed_.size());
  expected_ = in.get_all<double>(expected_.size());
  tested_ = in.get<std::int64_t>();
  evidence_ = in.get<double>();
  alarmed_ = in.get<bool>();
  alarms_ = in.get<std::int64_t>();
  last_alarm_ = in.get<std::int64_t>();
}

}  // namespace oas::detail
