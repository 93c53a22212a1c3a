#include "oas/study/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/study/detail/task_kinds.hpp"

namespace oas {

namespace {

constexpr TaskSetting kInstanceSettings[] = {
    {"size", SettingType::text, "states x actions x observations, as in 3x4x5"},
    {"generator", SettingType::text, "default, or authors: peaks spread over (state, action)"},
    {"epsilon", SettingType::number_or_text, "least transition probability; \"1/(5S)\""},
    {"instances", SettingType::text, "fixed, or per-replication: each draws its own"},
    {"candidates", SettingType::integer, "random instances drawn, of which one is taken by rank"},
    {"alpha_quantile", SettingType::number, "rank of its alpha among them"},
    {"sigma_quantile", SettingType::number, "rank of its least singular value of T_a"},
    {"alpha", SettingType::number, "noise is mixed into the sensors until alpha is this"},
};

}  // namespace

std::vector<TaskSetting> detail::with_instance_settings(std::span<const TaskSetting> own) {
  std::vector<TaskSetting> all(std::begin(kInstanceSettings), std::end(kInstanceSettings));
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

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
