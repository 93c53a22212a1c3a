#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "oas/model/pomdp.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/study/task_settings.hpp"

namespace oas {

/// How a study finds its random instance: by rule, never by hand. `candidates` instances are drawn
/// from the streams (seed, first … first + candidates-1, problem) and one is taken by its rank;
/// `first` is 0, or candidates times the replication where each has an instance of its own.
struct InstanceRule {
  int num_states = 3;
  int num_actions = 3;
  int num_observations = 3;
  PeakRule peaks = PeakRule::distinct_per_action;
  /// ε of the transition model and of the model that a logging policy believes in.
  double epsilon = 0.0;
  int candidates = 99;
  /// Of the candidates' α, in [0, 1]: 0 the least revealing sensors, 1 the most.
  double alpha_quantile = 0.5;
  /// Where set: also of min over a of σ_S(T_a), which spectral methods depend on; the candidate is
  /// then the one whose two ranks are together nearest to the wanted ones.
  std::optional<double> sigma_quantile;
  /// Where set: the sensors are mixed with noise, Z ← (1-λ)Z + λ/O, until α is this; all else
  /// stays as it is.
  std::optional<double> alpha;
  /// Each replication has an instance of its own, so that intervals take in how instances differ.
  bool per_replication = false;
  std::uint64_t seed = 1;

  /// Throws InvalidArgument naming the setting and the value.
  void validate() const;
  /// The settings size ("3x4x5": S, A, O), generator, epsilon, instances, candidates,
  /// alpha_quantile, sigma_quantile, alpha.
  [[nodiscard]] static InstanceRule from(const TaskSettings& settings, std::uint64_t seed);
};

/// The instance found.
struct Instance {
  Pomdp model;
  TransitionModel policy_model;  ///< independent dynamics, for a policy that believes in them
  double alpha = 0.0;            ///< min over a of σ_S(Z_a)
  double sigma = 0.0;            ///< min over a of σ_S(T_a)
  std::int64_t candidate = 0;    ///< the stream that it came from
};

/// O(candidates · A O S²). Throws InvalidArgument when no sensors reach the wanted α.
[[nodiscard]] Instance make_instance(const InstanceRule& rule, std::uint32_t replication = 0);

/// min over a of σ_S(T_a).
[[nodiscard]] double least_transition_value(const TransitionModel& transition);

/// S, A, O of the setting size: "3x4x5". Throws InvalidArgument.
[[nodiscard]] std::array<int, 3> size_setting(const TaskSettings& settings);
/// The name of the setting that holds the text of a study's own model, as in a model file. Readers
/// of study files set it where `model` names one of [models.NAME]; results depend on it.
inline constexpr const char* kModelText = "model text";
/// The model called `name`: the study's own, or a named problem. Throws InvalidArgument.
[[nodiscard]] Pomdp model_setting(const TaskSettings& settings, const std::string& name);
/// The setting timing: before or after. Throws InvalidArgument.
[[nodiscard]] Timing timing_setting(const TaskSettings& settings);
/// A floor: the number itself, or "1/(10A)".
[[nodiscard]] double floor_setting(const TaskSettings& settings, int num_actions);

}  // namespace oas
