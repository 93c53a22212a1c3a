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

struct PooledUcrlOptions {
  ActingOptions acting;  ///< iota unset: 0 in `before` timing, 1/(10A) in `after`
  std::int64_t first_episode = 400;
  double growth = 1.5;
  double delta = 0.1;
  double radius_scale = 0.0;
  double exploration = 0.0;

  template <class Fields>
  void visit(Fields& fields) {
    fields("first_episode", first_episode, "steps of the uniform first episode, at least 2");
    fields("growth", growth, "an episode ends when the steps have grown by this factor, > 1");
    fields("delta", delta, "episode k uses delta/k^3, in (0, 1)");
    fields("radius_scale", radius_scale, "factor on the row radii; 0: no optimism");
    fields("exploration", exploration, "c: the floor is at least c/sqrt(t)");
    acting.visit(fields);
  }

  void validate(const Pomdp& sensors) const;
};

class PooledUcrl {
 public:
  explicit PooledUcrl(const Pomdp& sensors, const PooledUcrlOptions& options = {});

  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  void start_episode();
  [[nodiscard]] std::vector<double> radii(const std::vector<double>& visits) const;

  PooledUcrlOptions options_;
  double least_floor_;
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
