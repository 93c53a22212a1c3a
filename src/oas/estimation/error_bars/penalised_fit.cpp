#include "oas/estimation/error_bars/detail/penalised_fit.hpp"

#include <algorithm>
#include <cmath>

#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"

namespace oas::detail {

namespace {

constexpr double kHalf = 0.5;             // an imaginary transition of every entry: Jeffreys'
constexpr double kPriorZero = 1e-9;       // where a prior would be -∞
constexpr double kLeavingShare = 0.02;    // entries at 0 must be able to leave it
constexpr double kFitTolerance = 1e-3;    // of a log-likelihood
constexpr int kMostFitPasses = 200;       // of the climb
constexpr double kMostFitWork = 2e9;      // rows · S² of all passes
constexpr double kLeastPenalised = 0.25;  // standard error 2

}  // namespace

LikelihoodFunction with_prior(LikelihoodFunction objective, double prior,
                              const TransitionModel& like) {
  if (prior == 0.0) return objective;
  std::vector<char> structural;  // known to be 0
  for (const double value : like.values()) structural.push_back(value == 0.0);
  return [objective = std::move(objective), prior, structural = std::move(structural)](
             const TransitionModel& at, const PassOptions& options) {
    LikelihoodPass pass = objective(at, options);
    for (std::size_t i = 0; i < pass.score.size(); ++i) {
      if (structural[i] != 0) continue;
      const double value = std::max(at.values()[i], kPriorZero);  // profiles go to the bounds
      pass.log_likelihood += prior * std::log(value);
      pass.score[i] += prior / value;
      pass.counts[i] += prior;
    }
    return pass;
  };
}

TransitionModel loosened(const TransitionModel& at) {
  const auto n = static_cast<std::size_t>(at.num_states());
  std::vector<double> values(at.values().begin(), at.values().end());
  for (std::size_t first = 0; first < values.size(); first += n) {
    double open = 0.0;
    for (std::size_t i = first; i < first + n; ++i) open += values[i] > 0.0 ? 1.0 : 0.0;
    for (std::size_t i = first; i < first + n; ++i) {
      if (values[i] > 0.0) values[i] += kLeavingShare * (1.0 / open - values[i]);
    }
  }
  return {at.num_states(), at.num_actions(), std::move(values)};
}

namespace {

// The curvature of the prior.
Matrix prior_information(const FreeCoordinates& free, const TransitionModel& at) {
  const std::vector<double> counts(at.values().size(), kHalf);
  return free.complete_information(at, counts);
}

}  // namespace

PenalisedFit penalised_fit(const Summit& summit, double rows, int& passes) {
  const double states = summit.at.num_states();
  const double coordinates = static_cast<double>(FreeCoordinates(summit.at).size());
  if (rows * states * states * (coordinates + kMostFitPasses) > kMostFitWork) return {};
  LikelihoodOptions options;
  options.prior = kHalf;
  options.tolerance = kFitTolerance;
  options.max_passes = kMostFitPasses;
  LikelihoodEstimate climbed = maximize_likelihood(summit.objective, loosened(summit.at), options);
  passes += climbed.passes;
  if (climbed.status == LikelihoodStatus::impossible) return {};
  PenalisedFit fit{climbed.transition, {}, {}};
  const auto entries = static_cast<double>(fit.at.values().size());
  const LikelihoodFunction objective = with_prior(summit.objective, kHalf, fit.at);
  const ObservedInformation information =
      observed_information(objective, fit.at, objective(fit.at, {}), kHalf * entries);
  passes += information.passes + 1;
  if (information.matrix.size() == 0 || !information.matrix.allFinite()) return fit;
  const SymmetricEigen eigen = symmetric_eigen(information.matrix);
  const Vector roots = eigen.values.cwiseMax(kLeastPenalised).cwiseSqrt();
  const FreeCoordinates free(fit.at);
  fit.information = information.matrix - prior_information(free, fit.at);
  const Matrix factor = free.expand(eigen.vectors * roots.cwiseInverse().asDiagonal());
  for (Eigen::Index i = 0; i < factor.rows(); ++i) fit.errors.push_back(factor.row(i).norm());
  return fit;
}

}  // namespace oas::detail
