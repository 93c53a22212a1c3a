#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "oas/estimation/likelihood/laplace_posterior.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/learning/acting_options.hpp"
#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/learning/online_moments.hpp"
#include "oas/learning/pooled_schedule.hpp"

namespace oas {

/// What the pooled agent estimates T by.
enum class PooledEstimator { moments, likelihood };

/// How the pooled agent tries what it does not know.
enum class PooledExploration { sampling, gibbs, laplace, optimism, likelihood_set, none };

/// Whose samples the radius of a row of T is made of: its own, or those of its action.
enum class RadiusBy { row, action };

struct PooledUcrlOptions {
  ActingOptions acting;  ///< iota unset: 0; moments in `after` timing: 1/(10A)
  PooledEstimator estimator = PooledEstimator::moments;
  PooledExploration exploration = PooledExploration::sampling;
  /// Steps of the uniform first episode, at least 2; 0: 12·S·A.
  std::int64_t first_episode = 0;
  /// An episode ends when the steps, or the plays of an action, have grown by this factor; > 1.
  double growth = 1.25;
  PooledSchedule::GrowBy grow_by = PooledSchedule::GrowBy::steps;
  /// Sampling: the sample is drawn as if there were this many times the data; > 0.
  double sharpness = 1.0;
  /// Gibbs: sweeps over all rows for each draw; at least 1.
  int sweeps = 16;
  /// c: by step t every action was played at least c·t^(1/3) times; where there is a floor this is
  /// not needed and not done. At least 0.
  double least_plays = 1.0;
  /// Optimism: factor on the row radii; > 0.
  double radius_scale = 0.02;
  RadiusBy radius_by = RadiusBy::row;
  /// Likelihood set: factor on how far below the largest the log-likelihood may lie; > 0.
  double set_scale = 1.0;
  /// Optimism and likelihood set: δ; episode k uses δ/k³. In (0, 1).
  double delta = 0.1;
  /// Likelihood: imaginary transitions added to every entry of T, at least 0.
  double prior = 0.3;
  /// Likelihood: converged when less than this much log-likelihood is left to be won; > 0.
  double tolerance = 0.01;

  template <class Fields>
  void visit(Fields& fields) {
    fields.choice("exploration", exploration,
                  {"sampling", "gibbs", "laplace", "optimism", "likelihood-set", "none"},
                  "how it tries what it does not know");
    visit_episodes(fields);
    fields("sharpness", sharpness, {kAboveZero},
           "sampling: as if there were so many times the data");
    fields("sweeps", sweeps, {1}, "gibbs: over all rows, for each draw");
    fields("least_plays", least_plays, {0.0},
           "c: every action at least c t^(1/3) times (no floor)");
    fields("radius_scale", radius_scale, {kAboveZero}, "optimism: factor on the row radii");
    fields.choice("radius_by", radius_by, {"row", "action"}, "optimism: whose samples they count");
    visit_set(fields);
    if (estimator == PooledEstimator::likelihood) {
      fields("prior", prior, {0.0}, "imaginary transitions added to every entry");
      fields("tolerance", tolerance, {kAboveZero}, "log-likelihood that may be left to win");
    }
    acting.visit(fields);
    fields.when(
        {"sharpness"}, [this] { return exploration == PooledExploration::sampling; },
        "used only by exploration by sampling");
    fields.when(
        {"sweeps"}, [this] { return exploration == PooledExploration::gibbs; },
        "used only by exploration by gibbs");
    fields.when(
        {"radius_scale", "radius_by"},
        [this] { return exploration == PooledExploration::optimism; },
        "used only by exploration by optimism");
    fields.when(
        {"set_scale"}, [this] { return exploration == PooledExploration::likelihood_set; },
        "used only by exploration by likelihood-set");
    fields.when(
        {"delta"},
        [this] {
          return exploration == PooledExploration::optimism ||
                 exploration == PooledExploration::likelihood_set;
        },
        "used only by exploration by optimism or likelihood-set");
  }
  template <class Fields>
  void visit_set(Fields& fields) {
    fields("set_scale", set_scale, {kAboveZero},
           "likelihood set: factor on how far the log-likelihood may fall");
    fields("delta", delta, {kAboveZero, kBelowOne}, "optimism: episode k uses delta/k^3");
  }
  template <class Fields>
  void visit_first_episode(Fields& fields) {
    fields("first_episode", first_episode, {2, std::numeric_limits<std::int64_t>::max(), true},
           "steps of the uniform first episode; 0: 12 S A");
  }
  template <class Fields>
  void visit_episodes(Fields& fields) {
    visit_first_episode(fields);
    fields("growth", growth, {kAboveOne},
           "an episode ends when the steps have grown by this factor");
    fields.choice("grow_by", grow_by, {"steps", "plays"},
                  "what has to grow: the steps, or the plays of some action");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;
};

/// The half of the pooled agent that learns: what the rows of all runs say about T, and which model
/// is to be played for it. It is shown rows by whoever has them, one agent or a fleet of units.
class PooledLearner {
 public:
  /// What the rows so far say: T̂, and how many transitions of each kind were seen.
  struct Learned {
    TransitionModel transition;
    std::vector<double> counts;  ///< [a][s][s']
    /// Of the rows it was made from, which must outlive it; empty: moments were used.
    LikelihoodFunction likelihood;
  };

  /// Throws as PooledUcrl does.
  PooledLearner(const Pomdp& sensors, const PooledUcrlOptions& options);

  [[nodiscard]] double floor() const { return floor_; }
  [[nodiscard]] const Pomdp& sensors() const { return sensors_; }
  [[nodiscard]] const PooledUcrlOptions& options() const { return options_; }

  /// Steps of the uniform first episode, and of one that begins at a later step.
  [[nodiscard]] std::int64_t first_episode() const { return options_.first_episode; }
  [[nodiscard]] std::int64_t length_after(std::int64_t step) const {
    return growth_of(step, options_.growth);
  }
  [[nodiscard]] PooledSchedule::Options schedule() const {
    return {options_.first_episode, options_.grow_by, options_.growth};
  }

  /// The action that was played less often than least_plays asks for by that step; none: there is
  /// no such action, or a floor sees to it. `plays`: [a].
  [[nodiscard]] std::optional<Action> overdue(std::span<const std::int64_t> plays,
                                              std::int64_t step) const;

  /// Takes the rows; none: some sensor is blind, or moments are not used.
  [[nodiscard]] std::optional<OnlineMoments>& moments() { return moments_; }
  [[nodiscard]] const std::optional<OnlineMoments>& moments() const { return moments_; }
  /// Takes the rows, when likelihood is used.
  [[nodiscard]] std::optional<TransitionLikelihood>& likelihood() { return likelihood_; }
  [[nodiscard]] const std::optional<TransitionLikelihood>& likelihood() const {
    return likelihood_;
  }

  /// From the rows so far; their number and what went wrong go into the record. With likelihood
  /// from the estimate before, if it is likelier than the moments'.
  [[nodiscard]] Learned estimate(Episode& episode);
  /// The same where likelihood() has no rows, and somebody else has them.
  [[nodiscard]] Learned estimate(const LikelihoodRows& rows, Episode& episode);
  /// Plans for the model that episode `k` >= 1 plays after this estimate; samples are drawn by
  /// (seed, k).
  void plan(const Learned& learned, std::int64_t k, std::uint64_t seed,
            BeliefController& controller, Episode& episode) const;

  /// The last estimate by likelihood: a warm start.
  [[nodiscard]] const std::optional<TransitionModel>& last_estimate() const {
    return last_estimate_;
  }
  void set_last_estimate(std::optional<TransitionModel> estimate) {
    last_estimate_ = std::move(estimate);
  }

 private:
  [[nodiscard]] Learned learned_by_moments(Episode& episode) const;
  [[nodiscard]] Learned refine(const TransitionModel& by_moments, const LikelihoodRows& rows,
                               Episode& episode);
  [[nodiscard]] TransitionModel model_to_play(const Learned& learned, std::int64_t k, Rng rng,
                                              const BeliefController& controller,
                                              Episode& episode) const;
  [[nodiscard]] TransitionModel gibbs(const Learned& learned, Rng rng,
                                      const BeliefController& controller, Episode& episode) const;
  [[nodiscard]] std::optional<LaplacePosterior> posterior(const Learned& learned) const;
  [[nodiscard]] TransitionModel optimistic(const Learned& learned, std::int64_t k, Rng rng) const;
  [[nodiscard]] TransitionModel sample(const std::vector<double>& counts, Rng rng) const;
  [[nodiscard]] std::vector<double> radii(const std::vector<double>& counts, std::int64_t k) const;

  PooledUcrlOptions options_;
  Pomdp sensors_;
  double floor_;
  std::vector<double> alpha_;                       // [a]: σ_S(Z_a)
  std::optional<OnlineMoments> moments_;            // none: some sensor is blind
  std::optional<TransitionLikelihood> likelihood_;  // the rows, when likelihood is used
  std::optional<TransitionModel> last_estimate_;    // a warm start
};

}  // namespace oas
