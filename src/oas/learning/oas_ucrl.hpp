#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/learning/acting_options.hpp"
#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/learning/online_moments.hpp"

namespace oas {

struct OasUcrlOptions {
  ActingOptions acting;  ///< iota > 0; unset: 1/(10A)
  /// T_0: steps of the uniform first episode; at least 2.
  std::int64_t first_episode = 3200;
  /// δ; episode k uses δ/k³. In (0, 1).
  double delta = 0.1;
  /// The radius of the confidence set is the lemma's times this; 0: no optimism. At least 0.
  double radius_scale = 0.0;
  /// ε and C of the lemma, which an agent cannot know; unset: 1/(5S) and 1/(ει).
  std::optional<double> min_transition;
  std::optional<double> start_ratio;

  template <class Fields>
  void visit(Fields& fields) {
    fields("first_episode", first_episode, {2}, "T_0: steps of the uniform first episode");
    fields("delta", delta, {kAboveZero, kBelowOne}, "episode k uses delta/k^3");
    fields("radius_scale", radius_scale, {0.0}, "factor on the lemma's radius; 0: no optimism");
    fields("min_transition", min_transition, {kAboveZero, 1.0},
           "epsilon of the lemma; default 1/(5S)");
    fields("start_ratio", start_ratio, {1.0}, "C of the lemma; default 1/(epsilon iota)");
    acting.visit(fields);
    fields.when(
        {"delta", "min_transition", "start_ratio"}, [this] { return radius_scale > 0.0; },
        "used only by optimism, and radius_scale is 0");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;
};

/// OAS-UCRL, the paper's Algorithm 2: episode 0 plays uniformly for T_0 steps; episode k >= 1
/// estimates T by OAS (Algorithm 1) from the disjoint pairs of episode k-1 alone, takes the
/// confidence set of radius scale · oas_radius(δ/k³, N_{k-1}) around it, plays the best policy with
/// floor ι of its most optimistic member for T_0·2^k steps, and recomputes the belief from the
/// history. In `after` timing pairs are weighted by 1/propensity. A step costs O(A O S²); a switch
/// of episode one plan.
class OasUcrl {
 public:
  /// `sensors` may lack a transition model; one that is there is not used. Throws InvalidArgument
  /// on bad options, or on sensors that cannot tell the states apart.
  explicit OasUcrl(const Pomdp& sensors, const OasUcrlOptions& options = {});

  /// A first reading, where rows are reading-first: for the belief; no sample is made of it.
  void begin(Observation first) { controller_.begin(first); }
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  [[nodiscard]] bool plan_due() const { return step_ == episode_end_; }
  void prepare();
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  /// Empty before there are dynamics to keep it with.
  [[nodiscard]] std::span<const double> belief() const { return controller_.belief(); }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  void start_episode();
  [[nodiscard]] double radius() const;

  OasUcrlOptions options_;
  double floor_;
  OnlineMoments moments_;
  BeliefController controller_;
  std::int64_t step_ = 0;
  std::int64_t episode_ = -1;     // index k of the current episode
  std::int64_t episode_end_ = 0;  // first step of the next one
  Choice last_;
  std::vector<Episode> episodes_;
};

}  // namespace oas
