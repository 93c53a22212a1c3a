#pragma once

#include "oas/study/kinds.hpp"

namespace oas::detail {

/// The settings of InstanceRule followed by those of a kind.
[[nodiscard]] std::vector<TaskSetting> with_instance_settings(std::span<const TaskSetting> own);

/// Error of estimators against the number of samples, on one random instance.
[[nodiscard]] TaskKind estimation_kind();

/// Regret of an agent against steps, on one random instance.
[[nodiscard]] TaskKind learning_kind();

}  // namespace oas::detail
