#pragma once

#include <functional>
#include <limits>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// How to climb to the maximum of the likelihood.
struct LikelihoodOptions {
  /// Imaginary transitions added to every entry of T: a Dirichlet prior with parameter 1 + prior
  /// for each row, whose mode is then sought. 0: maximum likelihood.
  double prior = 0.0;
  /// Converged when the log-likelihood that is still to be won, judged from the score, is below
  /// this. In units of standard errors the estimate is then within about √(2 · tolerance) of the
  /// maximum.
  double tolerance = 1e-4;
  int max_passes = 1000;  ///< over the rows
  /// A climb that has taken so long ends where it is. What it found then depends on the machine.
  double max_seconds = std::numeric_limits<double>::infinity();
  bool accelerate = true;  ///< false: plain expectation-maximisation

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

enum class LikelihoodStatus {
  not_run,
  converged,
  pass_limit,  ///< max_passes was not enough; the estimate is the best met
  time_limit,  ///< max_seconds was not enough; the same
  impossible,  ///< the rows cannot happen under the start model; the estimate is the start
};

/// The end of a climb. The log-likelihood is never below that of the start.
struct LikelihoodEstimate {
  LikelihoodStatus status = LikelihoodStatus::not_run;
  TransitionModel transition;
  LikelihoodPass pass;  ///< at `transition`
  double start_log_likelihood = 0.0;
  double objective = 0.0;  ///< what was climbed: the log-likelihood, and the prior's part
  /// Log-likelihood that is judged to be still to be won.
  double to_gain = 0.0;
  int passes = 0;  ///< over the rows
  int steps = 0;   ///< accepted moves

  /// One line: status, log-likelihood, passes.
  [[nodiscard]] std::string brief() const;
};

/// One pass at a transition model: rows in memory, or read again from files.
using LikelihoodFunction =
    std::function<LikelihoodPass(const TransitionModel& transition, const PassOptions& options)>;

/// Climbs from `start` to a maximum of the log-likelihood over transition models (with a prior: of
/// its sum with prior · Σ log T). An entry that is 0 in `start` stays 0: start inside, for instance
/// at mixed_with_uniform(). Throws InvalidArgument on wrong options or sizes.
[[nodiscard]] LikelihoodEstimate maximize_likelihood(const LikelihoodFunction& likelihood,
                                                     const TransitionModel& start,
                                                     const LikelihoodOptions& options = {});

/// The same on rows in memory; this is what an agent calls at each episode, with its last estimate
/// as a warm start.
[[nodiscard]] LikelihoodEstimate maximize_likelihood(const TransitionLikelihood& likelihood,
                                                     const TransitionModel& start,
                                                     const LikelihoodOptions& options = {},
                                                     Parallelism parallelism = {});

/// (1 - share) T + share / S: a start inside the set of models.
[[nodiscard]] TransitionModel mixed_with_uniform(const TransitionModel& transition, double share);

}  // namespace oas
