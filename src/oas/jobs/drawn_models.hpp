#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The estimate in a model file; none in other files, in formats that carry none, and in pipes,
/// which cannot be read twice. Throws ParseError as read_estimate() does.
[[nodiscard]] std::optional<TransitionEstimate> estimate_in(const std::string& file);

/// What the log of an estimate leaves possible.
struct DrawnModels {
  std::vector<Pomdp> models;  ///< drawn from the posterior; empty: it carries no draws
  /// With extreme_dynamics(): limits hold what happens there, since a draw never has a transition
  /// that is impossible, and the truth may. Empty without draws.
  std::vector<Pomdp> extremes;
  bool estimated = false;        ///< the model is an estimate, with draws or without
  bool learned_rewards = false;  ///< from the log
  bool drawn_rewards = false;    ///< the models have rewards of their own
  bool drawn_sensors = false;    ///< and sensors

  /// "dynamics and rewards": what differs between the models.
  [[nodiscard]] std::string what() const;
  /// Rewards were learned from the log, but limits over the draws have to take them as exact.
  [[nodiscard]] bool rewards_are_exact() const {
    return !models.empty() && learned_rewards && !drawn_rewards;
  }
};

/// The models that the estimate in this file carries for `model`, which is that of the file.
[[nodiscard]] DrawnModels draws_in(const std::string& file, const Pomdp& model);

}  // namespace oas
