#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/learning/acting_options.hpp"
#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/learning/online_moments.hpp"

namespace oas {

/// What the pooled agent estimates T by.
enum class PooledEstimator { moments, likelihood };

/// How the pooled agent tries what it does not know.
enum class PooledExploration { sampling, optimism, none };

struct PooledUcrlOptions {
  ActingOptions acting;  ///< iota unset: 0; moments in `after` timing: 1/(10A)
  PooledEstimator estimator = PooledEstimator::moments;
  PooledExploration exploration = PooledExploration::sampling;
  /// Steps of the uniform first episode, at least 2; 0: 12·S·A.
  std::int64_t first_episode = 0;
  /// An episode ends when the steps have grown by this factor; > 1.
  double growth = 1.25;
  /// Sampling: the sample is drawn as if there were this many times the data; > 0.
  double sharpness = 1.0;
  /// c: by step t every action was played at least c·t^(1/3) times; where there is a floor this is
  /// not needed and not done. At least 0.
  double least_plays = 1.0;
  /// Optimism: factor on the row radii; > 0.
  double radius_scale = 0.02;
  /// Optimism: δ; episode k uses δ/k³. In (0, 1).
  double delta = 0.1;
  /// Likelihood: imaginary transitions added to every entry of T, at least 0.
  double prior = 0.3;
  /// Likelihood: converged when less than this much log-likelihood is left to be won; > 0.
  double tolerance = 0.01;

  template <class Fields>
  void visit(Fields& fields) {
    fields.choice("exploration", exploration, {"sampling", "optimism", "none"},
                  "how it tries what it does not know");
    visit_episodes(fields);
    fields("sharpness", sharpness, {kAboveZero},
           "sampling: as if there were so many times the data");
    fields("least_plays", least_plays, {0.0},
           "c: every action at least c t^(1/3) times (no floor)");
    fields("radius_scale", radius_scale, {kAboveZero}, "optimism: factor on the row radii");
    fields("delta", delta, {kAboveZero, kBelowOne}, "optimism: episode k uses delta/k^3");
    if (estimator == PooledEstimator::likelihood) {
      fields("prior", prior, {0.0}, "imaginary transitions added to every entry");
      fields("tolerance", tolerance, {kAboveZero}, "log-likelihood that may be left to win");
    }
    acting.visit(fields);
    fields.when(
        {"sharpness"}, [this] { return exploration == PooledExploration::sampling; },
        "only exploration by sampling looks at it");
    fields.when(
        {"radius_scale", "delta"}, [this] { return exploration == PooledExploration::optimism; },
        "only exploration by optimism looks at it");
  }
  template <class Fields>
  void visit_episodes(Fields& fields) {
    fields("first_episode", first_episode, {2, std::numeric_limits<std::int64_t>::max(), true},
           "steps of the uniform first episode; 0: 12 S A");
    fields("growth", growth, {kAboveOne},
           "an episode ends when the steps have grown by this factor");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;
};

/// What the paper leaves open, answered: the rows of all episodes and all policies are used
/// together, and no action needs a floor.
///
/// Pooling. For any mixture of policies D_a = Σ_t L(:,o_t) L(:,o_{t+1})ᵀ still is, row by row and
/// in expectation, proportional to T_a, so moments of all episodes add up; the likelihood of T
/// given the logged actions does not depend on how they were chosen at all. Moments in `after`
/// timing weight pairs by 1/propensity and keep a floor; everything else may do without.
///
/// Episodes. The first plays uniformly; each later one ends when the number of steps has grown by a
/// constant factor, so there are O(log T). At its start T is estimated from all rows so far and the
/// best policy for the model to be played is found. That model is
///   sampling: T̃_a(s,·) ~ Dirichlet(1/S + sharpness · N_a(s,·)), N the (expected) numbers of
///     transitions: where few were seen the draw is wide, so that no action is given up for ever on
///     the word of a few rows, as happens to an agent that trusts its estimate;
///   optimism: the best member found of the set with row radii
///     scale/α_a² · √(S log(A S k³/δ) / visits_a(s)), for at most kMaxExtendedStates states;
///   none: the estimate.
/// Without a floor an action that was played less than c·t^(1/3) times is played at once: T^(1/3)
/// steps in all, and no wrong belief about an action lasts for ever.
///
/// A step costs O(A O S²), an episode one plan, and with likelihood some passes over all rows (all
/// episodes together: O(T growth/(growth-1)) row visits per pass), which are kept, 1 to 4 bytes
/// each.
class PooledUcrl {
 public:
  /// `sensors` may lack a transition model; one that is there is not used. Throws InvalidArgument
  /// on bad options, and on sensors that cannot tell the states apart where moments are used.
  explicit PooledUcrl(const Pomdp& sensors, const PooledUcrlOptions& options = {});

  /// A first reading, where rows are reading-first: for the belief and the likelihood.
  void begin(Observation first);
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  // What the rows so far say: T̂, and how many transitions of each kind were seen.
  struct Learned {
    TransitionModel transition;
    std::vector<double> counts;  // [a][s][s']
  };

  void start_episode();
  void start_likelihood();
  [[nodiscard]] std::int64_t length_after(std::int64_t step) const;
  void load_schedule(const JsonView& state);
  void load_seed(const JsonView& state);
  [[nodiscard]] std::optional<Action> overdue() const;
  [[nodiscard]] Learned estimate(Episode& episode);
  [[nodiscard]] Learned refine(const TransitionModel& by_moments, Episode& episode);
  [[nodiscard]] TransitionModel sample(const std::vector<double>& counts) const;
  [[nodiscard]] std::vector<double> radii(const std::vector<double>& counts) const;

  PooledUcrlOptions options_;
  double floor_;
  std::vector<double> alpha_;                       // [a]: σ_S(Z_a)
  std::optional<OnlineMoments> moments_;            // none: some sensor is blind
  std::optional<TransitionLikelihood> likelihood_;  // the rows, when likelihood is used
  std::optional<TransitionModel> last_estimate_;    // a warm start
  BeliefController controller_;
  std::int64_t step_ = 0;
  std::int64_t episode_ = -1;          // index k of the current episode
  std::int64_t episode_end_ = 0;       // first step of the next one
  std::optional<std::uint64_t> seed_;  // of the samples: the first number of the stream of act()
  std::vector<std::int64_t> plays_;    // [a]
  Choice last_;
  std::vector<Episode> episodes_;
};

}  // namespace oas
