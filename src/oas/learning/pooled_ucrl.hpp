#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/learning/pooled_learner.hpp"
#include "oas/learning/pooled_schedule.hpp"

namespace oas {

/// What the paper leaves open, answered: the rows of all episodes and all policies are used
/// together, and no action needs a floor.
///
/// Pooling. For any mixture of policies D_a = Σ_t L(:,o_t) L(:,o_{t+1})ᵀ still is, row by row and
/// in expectation, proportional to T_a, so moments of all episodes add up; the likelihood of T
/// given the logged actions does not depend on how they were chosen at all. Moments in `after`
/// timing weight pairs by 1/propensity and keep a floor; everything else may do without.
///
/// Episodes. The first plays uniformly; each later one ends when the number of steps, or that of
/// the plays of some action, has grown by a constant factor, so there are O(A log T). At its start
/// T is estimated from all rows so far and the best policy for the model to be played is found.
/// That model is
///   sampling: T̃_a(s,·) ~ Dirichlet(1/S + sharpness · N_a(s,·)), N the (expected) numbers of
///     transitions: where few were seen the draw is wide, so that no action is given up for ever on
///     the word of a few rows, as happens to an agent that trusts its estimate;
///   gibbs: T̃ from the exact posterior given all rows, by Gibbs sampling on from the model played
///     before: where sensors tell little, the rows leave more open than N shows;
///   laplace: T̃ around the mode of the likelihood, as far as its observed information lets it go;
///   likelihood set: the best model found whose log-likelihood is less than half a quantile of χ²
///     below the largest;
///   optimism: the best member found of the set with row radii
///     scale/α_a² · √(S log(A S k³/δ) / visits_a(s));
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
  [[nodiscard]] bool plan_due() const { return schedule_.over(); }
  void prepare();
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  /// Empty before there are dynamics to keep it with.
  [[nodiscard]] std::span<const double> belief() const { return controller_.belief(); }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  void start_episode();
  void start_likelihood();
  void load_seed(const JsonView& state);
  void load_estimate(const JsonView& state);
  [[nodiscard]] std::optional<Action> overdue() const;

  PooledLearner learner_;
  BeliefController controller_;
  PooledSchedule schedule_;
  std::optional<std::uint64_t> seed_;  // of the samples: the first number of the stream of act()
  Choice last_;
  std::vector<Episode> episodes_;
};

}  // namespace oas
