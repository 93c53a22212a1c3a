#include "oas/estimation/likelihood/laplace_posterior.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/error_bars/draws_at_maximum.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"

namespace oas {

namespace {

constexpr double kLeastCurvature = 1.0;  // a standard deviation of 1: nothing is known
constexpr double kLeastVisits = 2.0;     // of a row
constexpr double kLeast = 1e-6;          // of an entry

// Of the rows alone.
Matrix information_of(const LikelihoodFunction& likelihood, const TransitionModel& mode,
                      const LikelihoodPass& at_mode, const detail::FreeCoordinates& free) {
  Matrix observed = observed_information(likelihood, mode, at_mode).matrix;
  if (observed.rows() == free.size() && observed.allFinite()) return observed;
  return free.complete_information(mode, at_mode.counts);
}

}  // namespace

LaplacePosterior::LaplacePosterior(const LikelihoodFunction& likelihood,
                                   const TransitionModel& mode, const LikelihoodPass& at_mode,
                                   double prior)
    : mode_(mode) {
  OAS_REQUIRE(prior > 0.0, "prior is {}; it must be positive", prior);
  OAS_REQUIRE(at_mode.possible(), "the rows cannot happen under the mode");
  const auto n = static_cast<std::ptrdiff_t>(mode.num_states());
  std::vector<double> visits;  // imaginary ones included
  for (auto row = at_mode.counts.begin(); row != at_mode.counts.end(); row += n) {
    const double seen = std::accumulate(row, row + n, 0.0);
    errors_.determined.push_back(seen < kLeastVisits ? 0 : 1);
    visits.push_back(seen + prior * static_cast<double>(n));
  }
  const detail::FreeCoordinates free(mode);
  if (free.size() == 0) {
    errors_.factor = Matrix::Zero(static_cast<Eigen::Index>(at_mode.counts.size()), 0);
    errors_.evidence = evidence_of_counts(errors_, mode.values(), visits);
    return;
  }
  const std::vector<double> imaginary(mode.values().size(), prior);
  const SymmetricEigen eigen =
      symmetric_eigen(Matrix(information_of(likelihood, mode, at_mode, free) +
                             free.complete_information(mode, imaginary)));
  const Vector spread = eigen.values.cwiseMax(kLeastCurvature).cwiseSqrt().cwiseInverse();
  errors_.factor = free.expand(eigen.vectors * spread.asDiagonal());
  errors_.evidence = evidence_of_counts(errors_, mode.values(), visits);
}

TransitionModel LaplacePosterior::at(std::span<const double> z) const {
  OAS_REQUIRE(z.size() == size(), "{} coordinates; there are {}", z.size(), size());
  const Vector change = errors_.factor * Eigen::Map<const Vector>(z.data(), errors_.factor.cols());
  std::vector<double> values(mode_.values().begin(), mode_.values().end());
  const auto n = static_cast<std::size_t>(mode_.num_states());
  for (std::size_t row = 0; row < values.size(); row += n) {
    double sum = 0.0;
    for (std::size_t i = row; i < row + n; ++i) {
      if (values[i] > 0.0) {
        values[i] = std::max(kLeast, values[i] + change(static_cast<Eigen::Index>(i)));
      }
      sum += values[i];
    }
    for (std::size_t i = row; i < row + n; ++i) values[i] /= sum;
  }
  return {mode_.num_states(), mode_.num_actions(), std::move(values), "Laplace"};
}

TransitionModel LaplacePosterior::draw(Rng rng) const {
  const auto n = static_cast<std::size_t>(mode_.num_states());
  return {mode_.num_states(), mode_.num_actions(),
          draws_at_maximum(errors_, mode_.values(), n, 1, rng), "Laplace"};
}

}  // namespace oas
