#include "oas/estimation/likelihood/detail/best_climb.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/error_bars/detail/penalised_fit.hpp"
#include "oas/estimation/likelihood/detail/ring_search.hpp"

namespace oas::detail {

namespace {

constexpr double kFairSensor = 0.4;
constexpr double kShortLog = 500.0;    // rows for each row of T
constexpr double kKnownMoments = 2.0;  // an error of 1/2
constexpr double kFewestGain = 15.0;   // of a log-likelihood, that noise does not give
constexpr double kNoiseGain = 2.0;  // of a log-likelihood, for each parameter: four times the mean
constexpr int kMostRingStates = 12;
constexpr double kLastingNoise = 0.05;
constexpr int kMostRingPasses = 2500;
constexpr int kFewestRingPasses = 30;   // below, too little would be tried
constexpr double kMostRingWork = 3e9;   // multiplications: some seconds
constexpr double kNotAtAll = 1e-9;      // of a probability
constexpr double kSurelyTold = 30.0;    // readings times the square of what two states differ by
constexpr std::size_t kMostPairs = 3;   // of states that are exchanged
constexpr double kLeavingShare = 0.02;  // of uniform: zeros must be able to leave
constexpr double kNotMuchLower = 12.0;  // of a log-likelihood: beyond any region

// Whether there may be several maxima: weak sensors, or a short log of sensors that are not good.
bool in_doubt(const LikelihoodRows& rows, const Pomdp& model, double weakest) {
  const double states = model.num_states();
  const bool is_short = static_cast<double>(rows.rows) < kShortLog * model.num_actions() * states;
  return weakest < kDoubtfulSensor || (is_short && weakest < kFairSensor);
}

void climb_from(const TransitionModel& start, const LikelihoodRows& rows,
                const LikelihoodOptions& options, BestClimb& best) {
  LikelihoodEstimate next = maximize_likelihood(rows.likelihood, start, options);
  const int passes = best.end.passes + next.passes;
  ++best.climbs;
  if (best.climbs == 1 || next.objective > best.end.objective) best.end = std::move(next);
  best.end.passes = passes;
}

// How many passes a search among rings may take; 0: none. Moments have errors of about
// √(A S / rows) / σ_S², and a climb from moments that know something needs no search.
int ring_passes(const LikelihoodRows& rows, const Pomdp& model, const LikelihoodOptions& options,
                double weakest) {
  const double states = model.num_states();
  if (!options.accelerate || model.num_states() < 2 || states > kMostRingStates) return 0;
  const double known = weakest * weakest *
                       std::sqrt(static_cast<double>(rows.rows) / (states * model.num_actions()));
  if (known > kKnownMoments) return 0;
  const double affordable = kMostRingWork / (static_cast<double>(rows.rows) * states * states);
  const int most = static_cast<int>(std::min<double>(kMostRingPasses, affordable));
  return most < kFewestRingPasses ? 0 : std::min(most, options.max_passes);
}

TransitionModel lasting_states(const Pomdp& model) {
  std::vector<int> order(static_cast<std::size_t>(model.num_states()));
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int> steps(static_cast<std::size_t>(model.num_actions()), 0);
  return Ring{std::move(order), steps, kLastingNoise}.model();
}

// From states that last and from a ring, where the best climb has found no more than noise would
// give: dynamics that are hardly better than uniform ones.
void climb_from_ring(const LikelihoodRows& rows, const TransitionModel& like, const Pomdp& model,
                     const LikelihoodEstimatorOptions& options, double weakest, BestClimb& best) {
  const int most = ring_passes(rows, model, options.climb, weakest);
  if (most == 0) return;
  const auto began = std::chrono::steady_clock::now();
  const LikelihoodFunction objective = with_prior(rows.likelihood, options.climb.prior, like);
  const auto start_of = [&](const TransitionModel& ring) {
    return options.structure.empty() ? ring : options.structure.reduce(ring);
  };
  const auto value = [&](const TransitionModel& ring) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (spent.count() >= options.climb.max_seconds) return -std::numeric_limits<double>::infinity();
    return objective(start_of(ring), {}).log_likelihood;
  };
  const auto parameters = static_cast<double>(FreeCoordinates(like).size());
  const TransitionModel uniform = TransitionModel::uniform(model.num_states(), model.num_actions());
  ++best.end.passes;
  const double gain = best.end.objective - value(uniform);
  if (gain > kFewestGain + kNoiseGain * parameters) return;
  climb_from(start_of(lasting_states(model)), rows, options.climb, best);
  const RingSearch found = search_rings(value, model.num_states(), model.num_actions(), most);
  best.end.passes += found.passes;
  // What the best climb owes to noise: half a unit for each parameter.
  if (!(found.objective > best.end.objective - 0.5 * parameters)) return;
  climb_from(start_of(found.at), rows, options.climb, best);
}

// The total variation between what two states show after an action.
double difference(const ObservationModel& sensors, Action action, State one, State other) {
  const auto p = sensors.distribution(action, one);
  const auto q = sensors.distribution(action, other);
  double sum = 0.0;
  for (std::size_t o = 0; o < p.size(); ++o) sum += std::abs(p[o] - q[o]);
  return 0.5 * sum;
}

// How many readings there are of each action: weights by age make old ones count less.
std::vector<double> readings_of_actions(const LikelihoodRows& rows) {
  const double read = static_cast<double>(rows.rows - rows.missing);
  const double counted = std::min(rows.effective_rows.value_or(read), read);
  const double all = std::accumulate(rows.transitions.begin(), rows.transitions.end(), 0.0);
  std::vector<double> readings;
  for (const std::int64_t of_action : rows.transitions) {
    readings.push_back(counted * static_cast<double>(of_action) / std::max(all, 1.0));
  }
  return readings;
}

double distance(const TransitionModel& one, const TransitionModel& other) {
  double sum = 0.0;
  for (std::size_t i = 0; i < one.values().size(); ++i) {
    const double change = one.values()[i] - other.values()[i];
    sum += change * change;
  }
  return sum;
}

// A lower maximum.
struct OtherEnd {
  TransitionModel at;
  double objective;
  State one;  // these two are exchanged
  State other;
};

// From the best end with two states exchanged.
OtherEnd climb_across(const LikelihoodRows& rows, State one, State other,
                      const LikelihoodOptions& options, BestClimb& best) {
  BestClimb there;
  climb_from(
      mixed_with_uniform(with_swapped_states(best.end.transition, one, other), kLeavingShare), rows,
      options, there);
  const int passes = best.end.passes + there.end.passes;
  ++best.climbs;
  if (there.end.objective > best.end.objective) std::swap(there.end, best.end);
  best.end.passes = passes;
  return {std::move(there.end.transition), there.end.objective, one, other};
}

struct AlikeStates {
  double told;  // readings times the square of what the two differ by
  State one;
  State other;
};

// Pairs of states that so many readings of each action may not tell apart, the most alike first.
std::vector<AlikeStates> alike_states(const Pomdp& model, const std::vector<double>& readings) {
  std::vector<AlikeStates> pairs;
  for (State one{0}; one < model.num_states(); ++one) {
    for (State other{one + 1}; other < model.num_states(); ++other) {
      double told = 0.0;
      double apart = 0.0;
      for (Action a{0}; a < model.num_actions(); ++a) {
        const double of_action = difference(model.sensors(), a, one, other);
        apart = std::max(apart, of_action);
        told += readings[static_cast<std::size_t>(a.value())] * of_action * of_action;
      }
      if (told <= kSurelyTold && apart > kNotAtAll) pairs.push_back({told, one, other});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const AlikeStates& a, const AlikeStates& b) { return a.told < b.told; });
  if (pairs.size() > kMostPairs) pairs.resize(kMostPairs);
  return pairs;
}

void climb_across_all(const LikelihoodRows& rows, const Pomdp& model,
                      const LikelihoodOptions& options, BestClimb& best) {
  std::vector<OtherEnd> ends;
  for (const AlikeStates& pair : alike_states(model, readings_of_actions(rows))) {
    ends.push_back(climb_across(rows, pair.one, pair.other, options, best));
  }
  for (OtherEnd& end : ends) {
    const double fall = best.end.objective - end.objective;
    // It may have come back to where it was.
    const TransitionModel across = with_swapped_states(best.end.transition, end.one, end.other);
    if (fall > kNotMuchLower || distance(end.at, across) > distance(end.at, best.end.transition)) {
      continue;
    }
    std::vector<int> states(static_cast<std::size_t>(model.num_states()));
    std::iota(states.begin(), states.end(), 0);
    std::swap(states[static_cast<std::size_t>(end.one.value())],
              states[static_cast<std::size_t>(end.other.value())]);
    best.others.push_back({std::move(end.at), fall, std::move(states)});
  }
}

}  // namespace

TransitionModel with_swapped_states(const TransitionModel& transition, State one, State other) {
  const auto image = [&](State s) { return s == one ? other : s == other ? one : s; };
  std::vector<double> values;
  for (Action a{0}; a < transition.num_actions(); ++a) {
    for (State s{0}; s < transition.num_states(); ++s) {
      for (State next{0}; next < transition.num_states(); ++next) {
        values.push_back(transition(a, image(s), image(next)));
      }
    }
  }
  return {transition.num_states(), transition.num_actions(), std::move(values)};
}

BestClimb best_climb(const LikelihoodRows& rows, const std::vector<TransitionModel>& starts,
                     const Pomdp& model, const LikelihoodEstimatorOptions& options,
                     double weakest) {
  BestClimb best;
  const bool doubt = in_doubt(rows, model, weakest);
  for (const TransitionModel& start : starts) {
    climb_from(start, rows, options.climb, best);
    if (best.end.status == LikelihoodStatus::converged && !doubt) break;
  }
  const bool possible = best.end.status != LikelihoodStatus::impossible;
  if (possible) climb_from_ring(rows, starts.front(), model, options, weakest, best);
  if (possible && options.climb.accelerate && options.structure.empty()) {
    climb_across_all(rows, model, options.climb, best);
  }
  return best;
}

}  // namespace oas::detail
