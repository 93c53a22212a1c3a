#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/settings.hpp"
#include "oas/learning/any_agent.hpp"
#include "oas/learning/split_agent.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// One row of the table of agents, as `oas list` and docs/background/algorithms.md show it.
struct AgentInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view reference;
  /// Knows the dynamics: an oracle. All others are made from the model without its transition.
  bool knows_dynamics;
  AnyAgent (*make)(const Pomdp& model, std::span<const Setting> settings);
  std::vector<SettingInfo> (*settings)();
  /// The same agent for a fleet of units; null: it cannot be split into who learns and who acts.
  SplitAgent (*split)(const Pomdp& model, std::span<const Setting> settings);
};

/// All agents.
[[nodiscard]] std::span<const AgentInfo> agents();

/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] const AgentInfo& find_agent(std::string_view name);

/// Makes an agent by name for a model. Learners are handed the model without its transition. Throws
/// InvalidArgument on an unknown name or setting, a bad value, or a model the agent cannot play.
[[nodiscard]] AnyAgent make_agent(std::string_view name, const Pomdp& model,
                                  std::span<const Setting> settings = {});

/// The same in two halves. Throws InvalidArgument also where the agent cannot be split, naming
/// those that can.
[[nodiscard]] SplitAgent split_agent(std::string_view name, const Pomdp& model,
                                     std::span<const Setting> settings = {});

}  // namespace oas
