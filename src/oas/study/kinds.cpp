#include "oas/study/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/study/detail/task_kinds.hpp"

namespace oas {

std::span<const TaskKind> task_kinds() {
  static const std::vector<TaskKind> kinds = {detail::estimation_kind(), detail::learning_kind()};
  return kinds;
}

const TaskKind& find_task_kind(std::string_view name) {
  const auto kinds = task_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const TaskKind& k) { return k.name == name; });
  std::vector<std::string_view> names;
  for (const TaskKind& kind : kinds) names.push_back(kind.name);
  OAS_REQUIRE(found != kinds.end(), "unknown kind '{}'; known are {}", name,
              fmt::join(names, ", "));
  return *found;
}

}  // namespace oas
