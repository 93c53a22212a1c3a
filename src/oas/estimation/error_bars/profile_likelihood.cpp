#include "oas/estimation/error_bars/detail/profile_likelihood.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/estimation/error_bars/detail/free_coordinates.hpp"

namespace oas::detail {

namespace {

constexpr double kMostPointPasses = 200.0;  // for one point
constexpr int kQuickPasses = 12;            // with the information at the summit
constexpr double kFewestPasses = 6.0;
constexpr double kPointWork = 2e7;        // rows · S² of its passes
constexpr int kFewPasses = 3;             // where the summit was a good guide
constexpr double kShareOffBounds = 0.02;  // of all others, off the bounds
constexpr double kSmallGain = 0.001;      // of a further step: not worth a pass
constexpr double kMostPromised = 1.0;     // where a climb that is not over tells something
constexpr double kNotTold = std::numeric_limits<double>::quiet_NaN();
constexpr int kActiveSetRounds = 40;   // of the active set
constexpr double kLeastLeft = 1e-3;    // an entry shrinks by this factor at most in one step
constexpr double kTiny = 1e-9;         // below, an entry may go to 0 at once
constexpr double kStillZero = 1e-5;    // an entry at 0 has not left it yet
constexpr double kLeastLearnt = 1e-3;  // of the information expected along a step
constexpr double kReserve = 0.1;       // of a reference that stays in one step

}  // namespace

ProfileLikelihood::ProfileLikelihood(const Summit& summit, double rows)
    : summit_(summit),
      num_states_(static_cast<std::size_t>(summit.at.num_states())),
      place_(summit.at.values().size()) {
  const double states = summit.at.num_states();
  most_passes_ = static_cast<int>(
      std::clamp(kPointWork / (rows * states * states + 1.0), kFewestPasses, kMostPointPasses));
  work_of_pass_ = rows * states * states;
  const FreeCoordinates free(summit.at);
  const auto none = static_cast<std::size_t>(free.size());
  std::fill(place_.begin(), place_.end(), none);
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    place_[free.entry(i)] = static_cast<std::size_t>(i);
    coordinates_.push_back(free.entry(i));
  }
}

// The summit's coordinates, with another reference in the row of `entry` where it was itself one.
void ProfileLikelihood::choose(std::size_t entry) {
  const auto values = summit_.at.values();
  const std::size_t first = entry / num_states_ * num_states_;
  others_ = {};
  others_.entry = entry;
  // The largest of the others; where all are at 0, the one that is least pushed there.
  std::size_t reference = entry;
  const auto better = [&](std::size_t a, std::size_t b) {
    if (summit_.at_zero[a] != summit_.at_zero[b]) return summit_.at_zero[a] == 0;
    return summit_.at_zero[a] != 0 ? summit_.slopes[a] > summit_.slopes[b] : values[a] > values[b];
  };
  for (std::size_t i = first; i < first + num_states_; ++i) {
    if (i == entry || values[i] == 0.0) continue;
    if (reference == entry || better(i, reference)) reference = i;
  }
  others_.references = summit_.references;
  others_.references[entry / num_states_] = reference;
  const auto is_coordinate = [&](std::size_t i) {
    return values[i] > 0.0 && i != entry && i != others_.references[i / num_states_];
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_coordinate(i)) others_.entries.push_back(i);
  }
  const auto size = static_cast<Eigen::Index>(others_.entries.size());
  std::vector<Eigen::Index> places;
  for (const std::size_t i : others_.entries) {
    places.push_back(static_cast<Eigen::Index>(place_[i]));
  }
  others_.information = summit_.information(places, places);
  if (place_[reference] < coordinates_.size()) {
    // It was a coordinate: those of its row now take from it, not from the entry.
    const auto taken = static_cast<Eigen::Index>(place_[reference]);
    Vector in_row = Vector::Zero(size);
    for (Eigen::Index k = 0; k < size; ++k) {
      const std::size_t row = others_.entries[static_cast<std::size_t>(k)] / num_states_;
      if (row == entry / num_states_) in_row(k) = 1.0;
    }
    const Vector cross = summit_.information.col(taken)(places);
    others_.information -= cross * in_row.transpose() + in_row * cross.transpose();
    others_.information += summit_.information(taken, taken) * in_row * in_row.transpose();
  }
  // The curvature at a bound is not that of the way inside: it may even be negative there.
  for (Eigen::Index k = 0; k < size; ++k) {
    if (summit_.at_zero[others_.entries[static_cast<std::size_t>(k)]] == 0) continue;
    for (Eigen::Index j = 0; j < size; ++j) {
      if (j == k || summit_.at_zero[others_.entries[static_cast<std::size_t>(j)]] == 0) continue;
      others_.information(j, k) = 0.0;
    }
    others_.information(k, k) = std::abs(others_.information(k, k));
  }
}

// The summit with the entry at t, and the rest of its row in proportion.
std::vector<double> ProfileLikelihood::moved_to(double t) const {
  const auto values = summit_.at.values();
  std::vector<double> at(values.begin(), values.end());
  const std::size_t first = others_.entry / num_states_ * num_states_;
  const std::size_t reference = others_.references[others_.entry / num_states_];
  double rest = 0.0;  // that is not at 0
  for (std::size_t i = first; i < first + num_states_; ++i) {
    if (i != others_.entry && summit_.at_zero[i] == 0) rest += values[i];
  }
  for (std::size_t i = first; i < first + num_states_; ++i) {
    at[i] = rest > 0.0 && summit_.at_zero[i] == 0 ? values[i] * (1.0 - t) / rest : 0.0;
  }
  at[others_.entry] = t;
  if (!(rest > 0.0)) at[reference] = 1.0 - t;
  return at;
}

// With a small share for each of the others, so that none is kept at 0 by others at 0.
std::vector<double> ProfileLikelihood::off_bounds(std::vector<double> at) const {
  const auto is_other = [&](std::size_t i) {
    return summit_.at.values()[i] > 0.0 && i != others_.entry;
  };
  for (std::size_t first = 0; first < at.size(); first += num_states_) {
    double mass = 0.0;
    double others = 0.0;
    for (std::size_t i = first; i < first + num_states_; ++i) {
      if (!is_other(i)) continue;
      mass += at[i];
      others += 1.0;
    }
    for (std::size_t i = first; i < first + num_states_; ++i) {
      if (is_other(i)) at[i] += kShareOffBounds * (mass / others - at[i]);
    }
  }
  return at;
}

// Slopes at a point by the parabola of the summit.
std::vector<double> ProfileLikelihood::predicted_slopes(const std::vector<double>& at) const {
  Vector change(static_cast<Eigen::Index>(coordinates_.size()));
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    change(static_cast<Eigen::Index>(i)) =
        at[coordinates_[i]] - summit_.at.values()[coordinates_[i]];
  }
  const Vector fall = summit_.information * change;
  std::vector<double> slopes = summit_.slopes;
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    slopes[coordinates_[i]] -= fall(static_cast<Eigen::Index>(i));
  }
  return slopes;
}

// max g·d - d'Hd/2 with at + d >= 0: coordinates that would fall below are put close to 0, those at
// 0 that would rather rise are let go, until neither is left.
ProfileLikelihood::Step ProfileLikelihood::solve(const std::vector<double>& at,
                                                 const std::vector<double>& slopes, bool release) {
  const auto size = static_cast<Eigen::Index>(others_.entries.size());
  Step step{Vector::Zero(size), 0.0};
  Vector score(size);
  Vector lowest(size);
  std::vector<char> held(others_.entries.size(), 0);
  std::vector<char> kept = held;
  for (Eigen::Index k = 0; k < size; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const std::size_t entry = others_.entries[i];
    score(k) = slopes[entry] - slopes[others_.references[entry / num_states_]];
    lowest(k) = at[entry] > kTiny ? (kLeastLeft - 1.0) * at[entry] : -at[entry];
    const bool zero = at[entry] <= kTiny || (summit_.at_zero[entry] != 0 && at[entry] < kStillZero);
    held[i] = zero && (!release || score(k) < 0.0);
    kept[i] = held[i] != 0 && !release;
  }
  for (int round = 0; round < kActiveSetRounds; ++round) {
    std::vector<Eigen::Index> free;
    for (Eigen::Index k = 0; k < size; ++k) {
      if (held[static_cast<std::size_t>(k)] == 0) free.push_back(k);
      step.change(k) = held[static_cast<std::size_t>(k)] != 0 ? lowest(k) : 0.0;
    }
    const Vector right = score - others_.information * step.change;
    const auto dimension = static_cast<double>(free.size());
    work_ += dimension * dimension * dimension / 3.0 + static_cast<double>(size * size);
    if (!free.empty()) {
      Matrix system = others_.information(free, free);
      const double largest = system.diagonal().cwiseAbs().maxCoeff();
      Eigen::LLT<Matrix> factor;
      for (double ridge = 1e-10; ridge < 1e3; ridge *= 100.0) {
        system.diagonal().array() += ridge * (1.0 + largest);
        factor.compute(system);
        if (factor.info() == Eigen::Success) break;
      }
      const Vector solved = factor.solve(Vector(right(free)));
      for (std::size_t f = 0; f < free.size(); ++f) {
        step.change(free[f]) = solved(static_cast<Eigen::Index>(f));
      }
    }
    bool again = false;
    for (const Eigen::Index k : free) {
      if (step.change(k) >= lowest(k)) continue;
      held[static_cast<std::size_t>(k)] = 1;
      again = true;
    }
    if (again) continue;
    const Vector push = score - others_.information * step.change;
    Eigen::Index most = -1;
    for (Eigen::Index k = 0; k < size; ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (held[i] == 0 || kept[i] != 0 || !(push(k) > 1e-6 * (1.0 + std::abs(score(k))))) continue;
      if (most < 0 || push(k) > push(most)) most = k;
    }
    if (most < 0) break;
    held[static_cast<std::size_t>(most)] = 0;
  }
  // References must not run out.
  std::vector<double> taken(others_.references.size(), 0.0);
  for (Eigen::Index k = 0; k < size; ++k) {
    taken[others_.entries[static_cast<std::size_t>(k)] / num_states_] += step.change(k);
  }
  for (Eigen::Index k = 0; k < size; ++k) {
    const std::size_t row = others_.entries[static_cast<std::size_t>(k)] / num_states_;
    const double most = (1.0 - kReserve) * at[others_.references[row]];
    if (taken[row] > most) step.change(k) *= most / taken[row];
  }
  step.change = step.change.cwiseMax(lowest);
  step.gain = score.dot(step.change) - 0.5 * step.change.dot(others_.information * step.change);
  return step;
}

void ProfileLikelihood::add(const Vector& change, double share, std::vector<double>& at) const {
  for (std::size_t i = 0; i < others_.entries.size(); ++i) {
    const std::size_t entry = others_.entries[i];
    const double move = share * change(static_cast<Eigen::Index>(i));
    at[entry] = std::max(at[entry] + move, 0.0);
    double& reference = at[others_.references[entry / num_states_]];
    reference = std::max(reference - move, 0.0);
  }
}

ProfileLikelihood::Evaluation ProfileLikelihood::evaluate(const std::vector<double>& at) {
  ++passes_;
  work_ += work_of_pass_;
  std::vector<double> values = at;
  for (auto row = values.begin(); row != values.end();
       row += static_cast<std::ptrdiff_t>(num_states_)) {
    double sum = 0.0;
    for (std::size_t i = 0; i < num_states_; ++i) sum += row[static_cast<std::ptrdiff_t>(i)];
    for (std::size_t i = 0; i < num_states_; ++i) row[static_cast<std::ptrdiff_t>(i)] /= sum;
  }
  LikelihoodPass pass = summit_.objective(
      TransitionModel(summit_.at.num_states(), summit_.at.num_actions(), std::move(values)), {});
  return {pass.log_likelihood, std::move(pass.score), std::move(pass.counts)};
}

// The step of expectation-maximisation with the entry held: others in proportion to their expected
// counts. Returns what it is sure to bring.
double ProfileLikelihood::expect(const Evaluation& here, std::vector<double>& at) const {
  double sure = 0.0;
  for (std::size_t first = 0; first < at.size(); first += num_states_) {
    const bool has_entry = others_.entry / num_states_ == first / num_states_;
    double total = 0.0;
    double mass = 0.0;
    for (std::size_t i = first; i < first + num_states_; ++i) {
      if (i == others_.entry) continue;
      total += here.counts[i];
      mass += at[i];
    }
    if (!(total > 0.0) || !(mass > 0.0)) continue;
    if (!has_entry) mass = 1.0;
    for (std::size_t i = first; i < first + num_states_; ++i) {
      if (i == others_.entry) continue;
      const double next = mass * here.counts[i] / total;
      if (here.counts[i] > 0.0) sure += here.counts[i] * std::log(next / at[i]);
      at[i] = next;
    }
  }
  return sure;
}

// The information along the way that was gone, by the change of the slopes (BFGS).
void ProfileLikelihood::learn(const std::vector<double>& from, const std::vector<double>& slopes,
                              const std::vector<double>& to,
                              const std::vector<double>& new_slopes) {
  const auto size = static_cast<Eigen::Index>(others_.entries.size());
  Vector step(size);
  Vector fall(size);
  for (Eigen::Index k = 0; k < size; ++k) {
    const std::size_t entry = others_.entries[static_cast<std::size_t>(k)];
    const std::size_t reference = others_.references[entry / num_states_];
    step(k) = to[entry] - from[entry];
    fall(k) = (slopes[entry] - slopes[reference]) - (new_slopes[entry] - new_slopes[reference]);
  }
  Matrix& information = others_.information;
  const Vector image = information * step;
  const double expected = step.dot(image);
  const double found = step.dot(fall);
  if (!(expected > 0.0) || !(found > kLeastLearnt * expected)) return;
  information += fall * fall.transpose() / found - image * image.transpose() / expected;
}

// Goes from `at` as far up as the passes allow; the value reached, and what is still promised.
double ProfileLikelihood::climb(std::vector<double> at) {
  Evaluation here = evaluate(at);
  if (!std::isfinite(here.value)) return here.value;
  const int last = passes_ + std::min(most_passes_, kQuickPasses);
  while (passes_ < last) {
    const Step step = solve(at, here.slopes, true);
    const std::vector<double> before = at;
    const std::vector<double> slopes = here.slopes;
    std::vector<double> plain = at;
    const double sure = expect(here, plain);
    if (std::max(step.gain, sure) < kSmallGain) return here.value + std::max(step.gain, sure);
    bool found = false;
    for (double share = 1.0; step.gain > sure && share > 0.1 && passes_ < last; share *= 0.3) {
      std::vector<double> next = at;
      add(step.change, share, next);
      Evaluation there = evaluate(next);
      if (!(there.value >= here.value + sure)) continue;
      at = std::move(next);
      here = std::move(there);
      found = true;
      break;
    }
    if (!found) {
      Evaluation there = evaluate(plain);
      if (!(there.value > here.value)) break;  // by rounding only
      at = std::move(plain);
      here = std::move(there);
    }
    learn(before, slopes, at, here.slopes);
  }
  return climb_afresh(at, here.value);
}

// The objective as a function of the other entries, each row a distribution over them.
LikelihoodPass ProfileLikelihood::others_pass(const TransitionModel& others, double t,
                                              const PassOptions& options) {
  ++passes_;
  work_ += work_of_pass_;
  std::vector<double> values(others.values().begin(), others.values().end());
  const std::size_t first = others_.entry / num_states_ * num_states_;
  for (std::size_t i = first; i < first + num_states_; ++i) values[i] *= 1.0 - t;
  values[others_.entry] = t;
  LikelihoodPass pass = summit_.objective(
      TransitionModel(others.num_states(), others.num_actions(), std::move(values)), options);
  const auto reduce = [&](std::vector<double>& scores) {
    for (std::size_t from = first; from < scores.size(); from += place_.size()) {
      for (std::size_t i = from; i < from + num_states_; ++i) scores[i] *= 1.0 - t;
    }
  };
  reduce(pass.score);
  reduce(pass.batch_scores);
  pass.counts[others_.entry] = 0.0;  // those of the others are as expected
  return pass;
}

// Where the information at the summit does not show the way: the climb that finds summits.
double ProfileLikelihood::climb_afresh(const std::vector<double>& at, double reached) {
  const double t = at[others_.entry];
  std::vector<double> values = at;
  values[others_.entry] = 0.0;
  for (std::size_t first = 0; first < values.size(); first += num_states_) {
    double sum = 0.0;
    for (std::size_t i = first; i < first + num_states_; ++i) {
      if (summit_.at.values()[i] > 0.0 && i != others_.entry)
        values[i] = std::max(values[i], kTiny);
      sum += values[i];
    }
    for (std::size_t i = first; i < first + num_states_; ++i) values[i] /= sum;
  }
  LikelihoodOptions options;
  options.tolerance = kSmallGain;
  options.max_passes = most_passes_;
  const LikelihoodEstimate climbed = maximize_likelihood(
      [&](const TransitionModel& others, const PassOptions& pass) {
        return others_pass(others, t, pass);
      },
      TransitionModel(summit_.at.num_states(), summit_.at.num_actions(), std::move(values)),
      options);
  const double value = std::max(climbed.objective, reached);
  const bool over =
      climbed.status == LikelihoodStatus::converged || climbed.to_gain < kMostPromised;
  return over ? value + std::min(climbed.to_gain, kMostPromised) : kNotTold;
}

double ProfileLikelihood::fall(std::size_t entry, double t) {
  if (others_.entries.empty() || others_.entry != entry) {
    choose(entry);
    unlearnt_ = others_.information;
  }
  others_.information = unlearnt_;
  std::vector<double> start = moved_to(t);
  std::vector<double> at = start;
  add(solve(at, predicted_slopes(at), false).change, 1.0, at);
  const int before = passes_;
  double best = climb(std::move(at));
  if (std::isinf(best)) best = climb(start);
  if (passes_ - before > kFewPasses) {  // the summit is no guide: there may be a higher one
    others_.information = unlearnt_;
    const double other = climb(off_bounds(std::move(start)));
    if (!(other <= best)) best = other;
  }
  return std::max(summit_.value - best, 0.0);
}

}  // namespace oas::detail
