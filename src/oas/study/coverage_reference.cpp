#include "oas/study/coverage_reference.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/fisher_information.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"

namespace oas {

namespace {

constexpr std::size_t kFewestLogs = 8;
constexpr std::size_t kManyRows = 40'000;
constexpr std::size_t kLongestLog = 20'000;
constexpr double kMixed = 0.02;
constexpr double kLeastInformation = 1e-8;  // an error of 10,000: none
constexpr std::uint32_t kTruePilots = 0x8000'0000;
constexpr std::uint32_t kMixedPilots = 0xC000'0000;

constexpr double kNoInformation = 10.0;  // errors
constexpr double kGoodError = 0.05;
constexpr double kGoodFreeError = 0.25;
constexpr double kGoodVisits = 20.0;

// Means over pilot logs, for a log of full length.
struct Pilot {
  std::vector<double> errors;  // [a][s][s']
  std::vector<double> visits;  // [a][s]
};

std::vector<double> entry_errors(const FisherInformation& information, double scale) {
  std::vector<double> errors(information.num_entries, 0.0);
  if (information.matrix.size() == 0) return errors;
  const SymmetricEigen eigen = symmetric_eigen(Matrix(scale * information.matrix));
  const Vector roots = eigen.values.cwiseMax(kLeastInformation).cwiseSqrt();
  const Matrix factor = information.expand(eigen.vectors * roots.cwiseInverse().asDiagonal());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i] = factor.row(static_cast<Eigen::Index>(i)).norm();
  }
  return errors;
}

Pilot pilot_of(const Pomdp& model, const LogShape& wanted, std::uint32_t first) {
  LogShape shape = wanted;
  shape.rows = std::min(wanted.rows, kLongestLog);
  const std::size_t logs = std::max(kFewestLogs, kManyRows / shape.rows);
  std::optional<FisherInformation> sum;
  Pilot pilot;
  for (std::size_t log = 0; log < logs; ++log) {
    const auto runs = simulate_runs(model, shape, static_cast<std::uint32_t>(log), first);
    for (const Trajectory& run : runs) {
      FisherInformation one = fisher_information(model, model.transition(), run, {.skip = 0});
      if (sum) {
        sum->matrix += one.matrix;
      } else {
        sum = std::move(one);
      }
    }
    const LogFacts facts = log_facts(model, runs);
    pilot.visits.resize(facts.visits.size(), 0.0);
    for (std::size_t i = 0; i < facts.visits.size(); ++i) pilot.visits[i] += facts.visits[i];
  }
  const double scale = static_cast<double>(wanted.rows) / static_cast<double>(shape.rows * logs);
  for (double& visits : pilot.visits) visits *= scale;
  pilot.errors = entry_errors(*sum, scale);
  return pilot;
}

}  // namespace

std::vector<Trajectory> simulate_runs(const Pomdp& model, const LogShape& shape, std::uint32_t log,
                                      std::uint32_t first) {
  const std::size_t length = shape.run_length > 0 ? shape.run_length : shape.rows;
  const std::size_t num_runs = (shape.rows + length - 1) / length;
  std::vector<Trajectory> runs(num_runs);
  for (std::size_t r = 0; r < num_runs; ++r) {
    const auto stream = static_cast<std::uint32_t>(first + log * num_runs + r);
    ClosedLoop loop(model, shape.policy, shape.seed, stream);
    loop.advance(std::min(length, shape.rows - r * length), runs[r]);
  }
  return runs;
}

LogFacts log_facts(const Pomdp& model, const std::vector<Trajectory>& runs) {
  const auto n = static_cast<std::size_t>(model.num_states());
  const std::size_t num_rows = static_cast<std::size_t>(model.num_actions()) * n;
  LogFacts facts{std::vector<double>(num_rows, 0.0), std::vector<double>(num_rows * n, 0.0)};
  for (const Trajectory& run : runs) {
    for (std::size_t t = 0; t < run.size(); ++t) {
      const std::size_t row =
          static_cast<std::size_t>(run.actions[t]) * n + static_cast<std::size_t>(run.states[t]);
      const bool last = t + 1 == run.size();
      // In timing after the last row shows where it led to.
      if (!last || model.timing() == Timing::after) facts.visits[row] += 1.0;
      if (!last) facts.transitions[row * n + static_cast<std::size_t>(run.states[t + 1])] += 1.0;
    }
  }
  return facts;
}

RowClass CoverageReference::classify(std::size_t row, double visits_in_log) const {
  if (visits_in_log <= 0.0) return RowClass::undetermined;
  if (free_visits[row] <= 0.0) return RowClass::between;
  // Of few visits a row says little; a direction without information it lacks in every visit.
  const double free = free_error[row] * std::sqrt(free_visits[row] / visits_in_log);
  if (free > kNoInformation) return RowClass::undetermined;
  const std::size_t n = limit.size() / visits.size();
  const auto first = limit.begin() + static_cast<std::ptrdiff_t>(row * n);
  const double largest = *std::max_element(first, first + static_cast<std::ptrdiff_t>(n));
  const double error = largest * std::sqrt(visits[row] / visits_in_log);
  const bool good = visits_in_log >= kGoodVisits && visits[row] > 0.0 && error < kGoodError &&
                    free < kGoodFreeError;
  return good ? RowClass::determined : RowClass::between;
}

CoverageReference coverage_reference(const Pomdp& model, const LogShape& shape) {
  const auto truth = model.transition().values();
  const bool zeros = std::find(truth.begin(), truth.end(), 0.0) != truth.end();
  Pilot known = pilot_of(model, shape, kTruePilots);
  Pilot free = known;
  if (zeros) {
    const Pomdp mixed = model.with_transition(mixed_with_uniform(model.transition(), kMixed));
    free = pilot_of(mixed, shape, kMixedPilots);
  }
  CoverageReference reference;
  reference.limit = std::move(known.errors);
  reference.visits = std::move(known.visits);
  reference.free_visits = std::move(free.visits);
  const auto n = static_cast<std::ptrdiff_t>(model.num_states());
  for (auto row = free.errors.begin(); row != free.errors.end(); row += n) {
    reference.free_error.push_back(*std::max_element(row, row + n));
  }
  return reference;
}

}  // namespace oas
