#include "oas/estimation/likelihood/likelihood_estimator.hpp"

#include <algorithm>
#include <numeric>

#include "oas/estimation/error_bars/detail/free_coordinates.hpp"

namespace oas {

namespace {

using detail::FreeCoordinates;

constexpr Eigen::Index kMostDifferencedPasses = 60;     // coordinates; each costs a pass
constexpr Eigen::Index kMostInformedCoordinates = 600;  // of short logs
constexpr Eigen::Index kMostStoredScores = 6000;        // of any log
constexpr double kLight = 0.01;                         // expected transitions
constexpr double kMostInformationWork = 1e10;           // rows · S² of all their passes
constexpr double kMostSteps = 2e7;                      // beyond, batches say it as well
constexpr double kDifferenceStep = 1e-4;                // of a difference, relative
constexpr double kPracticallyZero = 1e-7;

// The score at `at` with `step` moved from the coordinate's reference to its entry.
Vector score_at(const LikelihoodFunction& likelihood, const TransitionModel& at,
                const FreeCoordinates& free, Eigen::Index coordinate, double step) {
  std::vector<double> values(at.values().begin(), at.values().end());
  values[free.entry(coordinate)] += step;
  values[free.reference(coordinate)] -= step;
  const TransitionModel moved(at.num_states(), at.num_actions(), std::move(values));
  return free.reduce(likelihood(moved, {}).score.data());
}

// Coordinates in which so few transitions are expected that even their information if all states
// had been seen would not be felt at the entry's distance from 0: entries at 0, and rows that were
// never left.
std::vector<char> light_coordinates(const FreeCoordinates& free, const TransitionModel& at,
                                    const std::vector<double>& counts) {
  std::vector<char> light;
  const auto values = at.values();
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    const double ratio = values[free.entry(i)] / values[free.reference(i)];
    light.push_back(counts[free.entry(i)] + ratio * ratio * counts[free.reference(i)] < kLight);
  }
  return light;
}

// The information in the given coordinates: its columns, by differences of scores.
Matrix difference_columns(const LikelihoodFunction& likelihood, const TransitionModel& at,
                          const FreeCoordinates& free, const std::vector<Eigen::Index>& chosen,
                          int& passes) {
  // Of the same kind as the passes it is compared with: one with batches, as a climb makes them, is
  // cut elsewhere when rows have weights, which 1/step would magnify.
  const Vector here = free.reduce(likelihood(at, {}).score.data());
  ++passes;
  Matrix columns(free.size(), static_cast<Eigen::Index>(chosen.size()));
  Eigen::Index column = 0;
  for (const Eigen::Index i : chosen) {
    // The largest entry of the row gives; the error of a one-sided difference is of order
    // kDifferenceStep.
    const double value = at.values()[free.entry(i)];
    double step = kDifferenceStep * std::max(value, 0.01);
    if (value > kPracticallyZero) step = std::min(step, 0.01 * value);
    columns.col(column++) = (here - score_at(likelihood, at, free, i, step)) / step;
    ++passes;
  }
  return columns;
}

// Columns for the heavy coordinates; of the light ones the diagonal only, by batches.
Matrix with_light_diagonal(const FreeCoordinates& free, const std::vector<Eigen::Index>& heavy,
                           const Matrix& columns, const Vector& diagonal) {
  Matrix information = Matrix::Zero(free.size(), free.size());
  information.diagonal() = diagonal;
  for (std::size_t k = 0; k < heavy.size(); ++k) {
    information.col(heavy[k]) = columns.col(static_cast<Eigen::Index>(k));
    information.row(heavy[k]) = information.col(heavy[k]).transpose();
  }
  const Matrix block = information(heavy, heavy);
  information(heavy, heavy) = 0.5 * (block + block.transpose());
  return information;
}

// Too many coordinates for one difference each.
ObservedInformation large_information(const LikelihoodFunction& likelihood,
                                      const TransitionModel& at, const LikelihoodPass& pass,
                                      const FreeCoordinates& free, double work_of_pass) {
  ObservedInformation result;
  result.too_large = free.size() > kMostStoredScores;
  if (result.too_large) return result;
  const std::vector<char> light = light_coordinates(free, at, pass.counts);
  std::vector<Eigen::Index> heavy;
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    if (light[static_cast<std::size_t>(i)] == 0) heavy.push_back(i);
  }
  const auto size = static_cast<Eigen::Index>(heavy.size());
  PassOptions batches;
  batches.batches = static_cast<int>(std::max<Eigen::Index>(1024, 4 * size));
  const LikelihoodPass many = likelihood(at, batches);
  result.passes = 1;
  if (size <= kMostInformedCoordinates &&
      static_cast<double>(size) * work_of_pass <= kMostInformationWork) {
    const Matrix columns = difference_columns(likelihood, at, free, heavy, result.passes);
    result.matrix = with_light_diagonal(free, heavy, columns, free.batch_diagonal(many));
    return result;
  }
  const auto count = static_cast<Eigen::Index>(many.batch_steps.size());
  if (count < 3 * size) return result;
  // The inverse of an estimated matrix is too large by this factor, on average.
  const auto excess = static_cast<double>(count) / static_cast<double>(count - size - 1);
  const Matrix spread = excess * free.batch_information(many);
  const Matrix columns = spread(Eigen::all, heavy);
  result.matrix = with_light_diagonal(free, heavy, columns, spread.diagonal());
  result.by_batches = true;
  return result;
}

}  // namespace

ObservedInformation observed_information(const LikelihoodFunction& likelihood,
                                         const TransitionModel& at, const LikelihoodPass& pass,
                                         double imaginary) {
  const FreeCoordinates free(at);
  ObservedInformation result;
  if (free.size() == 0) return result;
  const double steps = std::accumulate(pass.counts.begin(), pass.counts.end(), 0.0) - imaginary;
  const double states = at.num_states();
  const double work = steps * states * states;
  const bool few = free.size() <= kMostDifferencedPasses && steps <= kMostSteps;
  const bool affordable = free.size() <= kMostInformedCoordinates &&
                          static_cast<double>(free.size()) * work <= kMostInformationWork;
  if (!few && !affordable) return large_information(likelihood, at, pass, free, work);
  std::vector<Eigen::Index> all(static_cast<std::size_t>(free.size()));
  std::iota(all.begin(), all.end(), Eigen::Index{0});
  const Matrix information = difference_columns(likelihood, at, free, all, result.passes);
  result.matrix = 0.5 * (information + information.transpose());
  return result;
}

}  // namespace oas
