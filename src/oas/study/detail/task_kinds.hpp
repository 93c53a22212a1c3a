#pragma once

#include "oas/study/kinds.hpp"

namespace oas::detail {

/// The settings of InstanceRule followed by those of a kind.
[[nodiscard]] std::vector<TaskSetting> with_instance_settings(std::span<const TaskSetting> own);

/// After how many pairs of steps a task looks: `first`, growing by a constant factor, `last`.
struct PairCheckpoints {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t per_decade = 0;

  /// The settings pairs, first_pairs and per_decade. Throws InvalidArgument naming setting and
  /// value.
  [[nodiscard]] static PairCheckpoints from(const TaskSettings& settings);
  [[nodiscard]] std::vector<std::int64_t> all() const;
};

/// Error of estimators against the number of samples, on one random instance.
[[nodiscard]] TaskKind estimation_kind();

/// Error of estimators against the Cramér-Rao limit, on random instances.
[[nodiscard]] TaskKind efficiency_kind();

/// Regret of an agent against steps, on one random instance.
[[nodiscard]] TaskKind learning_kind();

/// The same for real-valued observations: cells, soft features, likelihood.
[[nodiscard]] TaskKind continuous_kind();

/// Whether error bars hold what they promise.
[[nodiscard]] TaskKind coverage_kind();

}  // namespace oas::detail
