#include "oas/estimation/likelihood/maximum_likelihood.hpp"

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/detail/likelihood_climb.hpp"
#include "oas/estimation/likelihood/detail/root_climb.hpp"

namespace oas {

namespace {

const char* name(LikelihoodStatus status) {
  switch (status) {
    case LikelihoodStatus::not_run:
      return "not run";
    case LikelihoodStatus::converged:
      return "converged";
    case LikelihoodStatus::pass_limit:
      return "stopped at the limit on passes";
    case LikelihoodStatus::time_limit:
      return "stopped at the limit on time";
    case LikelihoodStatus::impossible:
      return "impossible under the start model";
  }
  return "";
}

}  // namespace

void LikelihoodOptions::validate() const {
  OAS_REQUIRE(prior >= 0.0 && std::isfinite(prior),
              "prior is {}; it must be a number of at least 0", prior);
  OAS_REQUIRE(tolerance > 0.0 && std::isfinite(tolerance), "tolerance is {}; it must be positive",
              tolerance);
  OAS_REQUIRE(max_passes >= 1, "max_passes is {}; at least 1 is needed", max_passes);
  OAS_REQUIRE(max_seconds > 0.0, "max_seconds is {}; it must be positive", max_seconds);
}

std::string LikelihoodEstimate::brief() const {
  if (status == LikelihoodStatus::not_run) return "not run";
  return fmt::format("{} after {} passes of the climb, log-likelihood {:.6g}", name(status), passes,
                     pass.log_likelihood);
}

LikelihoodEstimate maximize_likelihood(const LikelihoodFunction& likelihood,
                                       const TransitionModel& start,
                                       const LikelihoodOptions& options) {
  options.validate();
  if (options.accelerate && detail::has_many_coordinates(start)) {
    return detail::RootClimb(likelihood, options).run(start);
  }
  return detail::LikelihoodClimb(likelihood, options).run(start);
}

LikelihoodEstimate maximize_likelihood(const TransitionLikelihood& likelihood,
                                       const TransitionModel& start,
                                       const LikelihoodOptions& options, Parallelism parallelism) {
  return maximize_likelihood(
      [&](const TransitionModel& transition, const PassOptions& pass) {
        return likelihood.pass(transition, pass, parallelism);
      },
      start, options);
}

TransitionModel mixed_with_uniform(const TransitionModel& transition, double share) {
  OAS_REQUIRE(share >= 0.0 && share <= 1.0, "share is {}; it must lie in [0, 1]", share);
  std::vector<double> values(transition.values().begin(), transition.values().end());
  for (double& value : values) value = (1.0 - share) * value + share / transition.num_states();
  return {transition.num_states(), transition.num_actions(), std::move(values)};
}

}  // namespace oas
