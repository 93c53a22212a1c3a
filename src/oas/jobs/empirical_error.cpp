#include "oas/jobs/empirical_error.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/transition_error.hpp"

namespace oas {

namespace {

constexpr std::size_t kBlockSteps = 1 << 16;
constexpr double kRoughly = 1.25;  // what a prediction may be off
constexpr double kRefutedLevel = 0.001;

TransitionModel one_estimate(const Pomdp& model, const EmpiricalErrorOptions& options,
                             std::uint32_t replication) {
  EvidenceOptions settings;
  settings.actions_ignore_observations = !find_policy(options.policy.name).reacts;
  settings.stream = {options.seed, replication, Role::estimation};
  Evidence evidence = make_evidence(options.estimator, model, settings);
  ClosedLoop loop(model, options.policy, options.seed, replication);
  if (model.reading_first()) evidence.start_run(loop.start());
  Trajectory block;
  for (std::size_t done = 0; done < options.steps; done += block.size()) {
    block.clear();
    loop.advance(std::min(kBlockSteps, options.steps - done), block);
    evidence.add(block);
  }
  return evidence.estimate(EstimateOptions::bare()).transition;
}

}  // namespace

void EmpiricalErrorOptions::validate() const {
  OAS_REQUIRE(steps >= 2, "steps is {}; at least 2 are needed", steps);
  OAS_REQUIRE(replications >= 2, "replications is {}; at least 2 are needed", replications);
  static_cast<void>(find_estimator(estimator));
}

double EmpiricalError::steps_for(double target, std::size_t steps) const {
  return static_cast<double>(steps) * (mean / target) * (mean / target);
}

bool EmpiricalError::refutes(double target) const {
  if (errors.size() < 2) return false;
  const boost::math::students_t student(static_cast<double>(errors.size() - 1));
  const double critical = boost::math::quantile(student, 1.0 - kRefutedLevel);
  return mean - critical * standard_error > kRoughly * target;
}

EmpiricalError empirical_error(const Pomdp& model, const EmpiricalErrorOptions& options,
                               Parallelism parallelism) {
  options.validate();
  options.policy.validate(model);
  EmpiricalError result;
  result.errors.resize(static_cast<std::size_t>(options.replications));
  parallel_for(result.errors.size(), parallelism, [&](std::size_t r) {
    const TransitionModel estimate = one_estimate(model, options, static_cast<std::uint32_t>(r));
    result.errors[r] = transition_error(model.transition(), estimate).frobenius;
  });
  const auto n = static_cast<double>(result.errors.size());
  result.mean = std::accumulate(result.errors.begin(), result.errors.end(), 0.0) / n;
  double square = 0.0;
  for (const double error : result.errors) square += (error - result.mean) * (error - result.mean);
  result.standard_error = std::sqrt(square / (n - 1.0) / n);
  return result;
}

std::vector<EmpiricalError> try_predictions(const Pomdp& model, const SurveyOptions& survey,
                                            const std::vector<DataNeeded>& needed, int replications,
                                            Parallelism parallelism) {
  std::vector<EmpiricalError> errors;
  for (const DataNeeded& one : needed) {
    errors.emplace_back();
    if (!one.steps || !std::isfinite(*one.steps)) continue;
    EmpiricalErrorOptions trial;
    trial.policy = survey.policy;
    trial.estimator = one.estimator;
    trial.steps = static_cast<std::size_t>(std::max(std::ceil(*one.steps), 2.0));  // a pair
    trial.replications = replications;
    trial.seed = survey.seed + 1;  // not the logs of the prediction
    errors.back() = empirical_error(model, trial, parallelism);
  }
  return errors;
}

}  // namespace oas
