#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/particles/particle_posterior.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// Options of the estimator `particle`.
struct ParticleEstimateOptions {
  std::string name = "particle";  ///< recorded in the result
  double confidence = 0.95;       ///< level of each interval, in (0, 1)
  ParticleOptions posterior;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The Bayesian estimator: folds the rows of any number of runs into a ParticlePosterior, once, in
/// constant memory. Needs no propensities: a posterior is valid under any policy that looks at
/// actions and observations only, in both timings. The estimate is the posterior mean, its standard
/// errors the posterior standard deviations, its intervals those of set_posterior_intervals(), as
/// far out as so few particles can tell. Rows that were left less than once, of which the log says
/// less than one visit would, and all rows where two states have the same sensors are flagged.
/// Particles that have collapsed say nothing about spread: then all rows are flagged and there are
/// no error bars.
class ParticleEstimator {
 public:
  /// Throws InvalidArgument on bad options.
  ParticleEstimator(const Pomdp& model, const ParticleEstimateOptions& options, const Rng& rng);

  /// Rows to come belong to another run.
  void start_run(Observation first = kMissing);
  /// Throws InvalidArgument on columns of different lengths.
  void add(std::span<const Action> actions, std::span<const Observation> observations);

  /// Throws InvalidArgument when no row was seen.
  [[nodiscard]] TransitionEstimate finish() const { return finish(options_.confidence); }
  /// The same with intervals of another level.
  [[nodiscard]] TransitionEstimate finish(double confidence) const;

  [[nodiscard]] const ParticlePosterior& posterior() const { return posterior_; }
  [[nodiscard]] std::int64_t runs() const { return runs_; }

  /// All of it as bytes; load() into one made with the same arguments goes on to the bit.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  void count_pair(Action action, Observation observation);
  void flag_rows(const ParticlePosterior::Moments& moments, TransitionEstimate& estimate) const;
  void add_warnings(TransitionEstimate& estimate) const;

  Pomdp model_;
  ParticleEstimateOptions options_;
  Rng rng_;
  ParticlePosterior posterior_;
  std::vector<std::int64_t> pairs_;
  std::vector<double> visits_;  // [a][s]
  std::vector<double> belief_;
  std::optional<Action> previous_;  // of an observed row of the same run
  bool in_run_ = false;
  std::int64_t runs_ = 0;
  std::int64_t missing_ = 0;
};

}  // namespace oas
