#include "oas/estimation/diagnosis/score_walk.hpp"

#include <algorithm>
#include <cmath>

namespace oas {

namespace {

constexpr double kFewestTransitions = 1.0;

// Expected transitions below which an entry is no coordinate, so that there are not too many.
double least_transitions(const StratifiedFit& fit) {
  std::vector<double> counts;
  for (const FittedDynamics& one : fit.strata) {
    const auto n = static_cast<std::size_t>(one.transition.num_states());
    for (std::size_t i = 0; i < one.transition.values().size(); ++i) {
      counts.push_back(one.transition.values()[i] * one.visits[i / n]);
    }
  }
  if (counts.size() <= ScoreWalk::kMostCoordinates) return kFewestTransitions;
  const auto last = counts.begin() + static_cast<std::ptrdiff_t>(ScoreWalk::kMostCoordinates);
  std::nth_element(counts.begin(), last, counts.end(), std::greater<>());
  return std::max(kFewestTransitions, *last);
}

}  // namespace

void center_draws(const Vector& weights, Matrix& draws) {
  const double sum = weights.sum();
  const double same = weights.squaredNorm() / (sum * sum);  // 1 / count where all weigh the same
  const Eigen::RowVectorXd mean = weights.transpose() * draws / sum;
  draws.rowwise() -= mean;
  if (same < 1.0) draws /= std::sqrt(1.0 - same);
}

ScoreWalk::ScoreWalk(const AnyModel& model, const DiagnosedRows& rows, const StratifiedFit& fit,
                     const SensorDirections& sensors)
    : chain_(chain_of(model)),
      rows_(rows),
      fit_(fit),
      sensors_(sensors),
      filter_(chain_.num_states(), chain_.num_actions()) {
  const double least = least_transitions(fit);
  const auto n = static_cast<std::size_t>(chain_.num_states());
  for (std::size_t g = 0; g < fit.strata.size(); ++g) {
    const FittedDynamics& one = fit.strata[g];
    std::vector<char> held(one.transition.values().size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      held[i] = one.transition.values()[i] * one.visits[i / n] < least;
    }
    const detail::FreeCoordinates free(one.transition, held);
    filter_.add(one.transition, free);
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      coordinates_.push_back({static_cast<int>(g), free.entry(i)});
    }
  }
  filter_.add_sensor_directions(sensors.size());
  score_.resize(filter_.size());
  scratch_.resize(filter_.size());
}

std::vector<int> ScoreWalk::rows_of_dynamics() const {
  const int states = chain_.num_states();
  const int rows = chain_.num_actions() * states;
  std::vector<int> of;
  for (const DynamicsCoordinate& one : coordinates_) {
    of.push_back(one.stratum * rows + static_cast<int>(one.entry) / states);
  }
  return of;
}

// What other readings would have said.
void ScoreWalk::score_others(std::size_t row, Rng& rng) {
  if (!sensors_.can_draw()) {
    others_.resize(2, filter_.size());
    others_.row(0) = score_.transpose();
    others_.row(1) = -score_.transpose();
    weights_.setConstant(2, 0.5);
    return;
  }
  sensors_.others(row, filter_.belief(), rng, readings_);
  others_.resize(readings_.count, filter_.size());
  weights_ = readings_.weights;
  for (Eigen::Index j = 0; j < readings_.count; ++j) {
    const double probability = filter_.slopes(readings_.likelihoods.row(j), scratch_);
    if (!(probability > 0.0)) {
      others_.row(j).setZero();
      weights_(j) = 0.0;
      continue;
    }
    scratch_.tail(sensors_.size()) += readings_.sensor_slopes.row(j).transpose() / probability;
    others_.row(j) = scratch_.transpose();
  }
  if (!readings_.all) center_draws(weights_, others_);
}

void ScoreWalk::run(std::uint64_t seed, const std::function<void(const ScoredRow&)>& receive) {
  Rng rng({seed, 0, Role::estimation});
  const bool before = chain_.timing() == Timing::before;
  Eigen::RowVectorXd likelihood(chain_.num_states());
  Matrix by_sensor(sensors_.size(), chain_.num_states());
  std::vector<double> start(static_cast<std::size_t>(chain_.num_states()));
  std::size_t run = 0;
  for (std::size_t t = 0; t < rows_.size(); ++t) {
    if (run < rows_.run_starts.size() && rows_.run_starts[run] == t) {
      rows_.starts[run++].belief(chain_.start(), start);
      filter_.start(start);
    }
    const Action action = rows_.actions[t];
    if (!before) filter_.move(fit_.stratum(t), action);
    if (sensors_.seen(t, likelihood, by_sensor)) {
      const double probability = filter_.slopes(likelihood, score_);
      if (probability > 0.0) {
        score_.tail(sensors_.size()) += by_sensor * filter_.belief().transpose() / probability;
        score_others(t, rng);
        receive({t, score_, others_, weights_, readings_, filter_.belief(), likelihood});
        filter_.see(likelihood, by_sensor, score_, probability);
      }
    }
    if (before) filter_.move(fit_.stratum(t), action);
  }
}

}  // namespace oas
