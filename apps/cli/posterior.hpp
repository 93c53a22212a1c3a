#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/estimation/transition_estimate.hpp"

namespace oas::cli {

/// The estimate in a file; none for other models, and for pipes, which cannot be read twice.
[[nodiscard]] std::optional<TransitionEstimate> estimate_in(const std::string& name);

/// Why there are no limits at any level for what that model says.
[[nodiscard]] std::string why_no_limits(const std::string& name);

/// What its log leaves possible.
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
};

/// The models that the estimate carries for `model`, which is that of its file.
[[nodiscard]] DrawnModels draws_in(const std::string& name, const Pomdp& model);

/// Says where limits over draws take rewards as exact that were learned from a log.
void warn_of_exact_rewards(const std::string& name, const DrawnModels& draws, const Common& common,
                           std::vector<std::string>& warnings);

}  // namespace oas::cli
