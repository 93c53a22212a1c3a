#include "oas/experiments/empirical_error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/estimation/transition_error.hpp"

namespace oas {

namespace {

constexpr std::size_t kBlockSteps = 1 << 16;

bool policy_reacts(const std::string& name) {
  const auto all = policies();
  return std::any_of(all.begin(), all.end(),
                     [&](const PolicyInfo& info) { return info.name == name && info.reacts; });
}

double one_replication(const Pomdp& model, const LeftInverses& inverses,
                       const EmpiricalErrorOptions& options, std::uint32_t replication) {
  FoldOptions fold;
  fold.pairing = find_estimator(options.estimator).pairing;
  fold.inverse_propensity = model.timing() == Timing::after && policy_reacts(options.policy.name);
  PairFolder folder(inverses, model.timing(), fold);
  ClosedLoop loop(model, options.policy, options.seed, replication);
  Trajectory block;
  for (std::size_t done = 0; done < options.steps; done += block.size()) {
    block.clear();
    loop.advance(std::min(kBlockSteps, options.steps - done), block);
    folder.add(block.actions, block.observations, block.propensities);
  }
  const TransitionEstimate estimate = estimate_oas(folder.finish(), inverses, model);
  return transition_error(model.transition(), estimate.transition).frobenius;
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

EmpiricalError empirical_error(const Pomdp& model, const EmpiricalErrorOptions& options,
                               Parallelism parallelism) {
  options.validate();
  options.policy.validate(model);
  const LeftInverses inverses(model);
  EmpiricalError result;
  result.errors.resize(static_cast<std::size_t>(options.replications));
  parallel_for(result.errors.size(), parallelism, [&](std::size_t r) {
    result.errors[r] = one_replication(model, inverses, options, static_cast<std::uint32_t>(r));
  });
  const auto n = static_cast<double>(result.errors.size());
  result.mean = std::accumulate(result.errors.begin(), result.errors.end(), 0.0) / n;
  double square = 0.0;
  for (const double error : result.errors) square += (error - result.mean) * (error - result.mean);
  result.standard_error = std::sqrt(square / (n - 1.0) / n);
  return result;
}

}  // namespace oas
