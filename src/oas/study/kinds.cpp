#include "oas/study/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

detail::PairCheckpoints detail::PairCheckpoints::from(const TaskSettings& settings) {
  PairCheckpoints read;
  read.last = settings.integer("pairs", 100'000);
  OAS_REQUIRE(read.last >= 1 && read.last <= 10'000'000'000, "pairs is {}; 1 to 1e10", read.last);
  read.first = settings.integer("first_pairs", std::min<std::int64_t>(1000, read.last));
  OAS_REQUIRE(read.first >= 1 && read.first <= read.last,
              "first_pairs is {}; it must lie between 1 and pairs, {}", read.first, read.last);
  read.per_decade = settings.integer("per_decade", 4);
  OAS_REQUIRE(read.per_decade >= 1 && read.per_decade <= 1000, "per_decade is {}; 1 to 1000",
              read.per_decade);
  return read;
}

std::vector<std::int64_t> detail::PairCheckpoints::all() const {
  std::vector<std::int64_t> at;
  for (int i = 0;; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(per_decade);
    const auto next = std::llround(static_cast<double>(first) * std::pow(10.0, exponent));
    if (next >= last) break;
    if (at.empty() || next > at.back()) at.push_back(next);
  }
  at.push_back(last);
  return at;
}

std::span<const TaskKind> task_kinds() {
  static const std::vector<TaskKind> kinds = {detail::estimation_kind(), detail::efficiency_kind(),
                                              detail::learning_kind(), detail::continuous_kind(),
                                              detail::coverage_kind()};
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
