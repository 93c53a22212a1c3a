#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/json_text.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/settings.hpp"
#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/spectral/spectral.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

struct SmUcrlOptions {
  /// Floor ι on the probability of every action, in (0, 1/A]; unset: 1/(10A).
  std::optional<double> iota;
  std::int64_t first_episode = 3200;  ///< steps of the uniform first episode; at least 3
  double delta = 0.1;                 ///< δ; episode k uses δ/k³. In (0, 1).
  /// Radius of the rows of action a: scale · √(log(1/δ_k) / triples of a), at most 1; at least 0.
  double radius_scale = 0.0;
  /// sensors: all partner actions in one decomposition; blocks: the original's views.
  SpectralPooling pooling = SpectralPooling::sensors;
  /// Up to this many policies are all tried in planning; beyond, coordinate ascent.
  double max_policies = 20'000;

  template <class Fields>
  void visit(Fields& fields) {
    fields("iota", iota, {0.0}, "floor on the probability of every action, at most 1/A");
    fields("first_episode", first_episode, {3}, "steps of the uniform first episode");
    fields("delta", delta, {kAboveZero, kBelowOne}, "episode k uses delta/k^3");
    fields("radius_scale", radius_scale, {0.0}, "times sqrt(log(1/delta_k)/n); 0: no optimism");
    fields.choice("pooling", pooling, {"blocks", "sensors"},
                  "one decomposition per pair of actions, or per action through the sensors");
    fields("max_policies", max_policies, {0.0}, "try all policies up to this many, else climb");
    fields.when(
        {"delta"}, [this] { return radius_scale > 0.0; },
        "used only by optimism, and radius_scale is 0");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;
};

/// SM-UCRL (Azizzadenesheli, Lazaric, Anandkumar, COLT 2016) with known sensors. Episodes of one
/// memoryless policy with floor ι each; the first is uniform for T_0 steps, a later one ends when
/// some action was played twice as often as in any single episode before. Then T is estimated from
/// the three views of that episode alone, with the policy correction of the second view
/// (estimation/spectral.hpp); an action keeps the estimate of the episode with most samples of it,
/// so no samples of two policies are mixed. Then the most optimistic memoryless policy over the
/// confidence region is played.
///
/// The original sees o_t before it chooses a_t, has emissions that do not depend on the action, and
/// learns them. Here the policy is a table over (a_{t-1}, o_{t-1}), the last row: in `after` timing
/// that is the original's f(a_t | y_t) with y_t = o_{t-1}, in `before` timing it is all that a
/// memoryless policy can see. Emissions Z_a may depend on the action since they are known. Both
/// timings have the three views needed; regret is that against the best such table, which may be
/// far below the best belief policy.
///
/// A decomposition that fails keeps the action's estimate from an earlier episode, or uniform rows;
/// the record says why.
class SmUcrl {
 public:
  /// `sensors` may lack a transition model; one that is there is not used. Throws InvalidArgument
  /// on bad options, sensors that cannot tell the states apart, or too many different triples.
  explicit SmUcrl(const Pomdp& sensors, const SmUcrlOptions& options = {});

  /// A first reading comes with no action, so the table of memoryless policies has no entry for it.
  void begin(Observation /*first*/) {}
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  [[nodiscard]] bool plan_due() const { return episode_over(); }
  void prepare();
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  [[nodiscard]] bool episode_over() const;
  void load_counters(const JsonView& state);
  void start_episode();
  void take_in(const TransitionEstimate& estimate, Episode& episode);
  void plan(Episode& episode);

  Pomdp sensors_;
  SmUcrlOptions options_;
  double floor_;
  TripleFolder rows_;  // of this episode
  std::int64_t step_ = 0;
  std::int64_t episode_ = -1;  // index k of the current episode
  std::int64_t episode_start_ = 0;
  std::vector<std::int64_t> plays_;       // [a]: in this episode
  std::vector<std::int64_t> most_plays_;  // [a]: in a single earlier episode
  std::vector<double> transition_;        // [a][s][s']: the estimates in use
  std::vector<std::int64_t> samples_;     // [a]: triples behind them; 0: uniform, none yet
  std::vector<int> greedy_;               // [a][o]; empty: uniform
  Choice last_;
  std::optional<int> context_;  // (a,o) of the last row
  std::vector<Episode> episodes_;
};

}  // namespace oas
