#include "learn_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas::cli {

namespace {

bool knows(const AgentInfo& info, const std::string& setting) {
  const auto list = info.settings();
  return std::any_of(list.begin(), list.end(),
                     [&](const SettingInfo& known) { return known.name == setting; });
}

// "agent.name=value" is for that agent, "name=value" for every agent that knows the name.
std::vector<Setting> settings_of(const LearnArguments& options, const std::string& agent) {
  const AgentInfo& info = find_agent(agent);
  std::vector<Setting> settings;
  if (options.iota && knows(info, "iota")) {
    settings.push_back({"iota", fmt::format("{}", *options.iota)});
  }
  for (const std::string& text : options.settings) {
    Setting setting = parse_setting(text);
    const std::size_t dot = setting.name.find('.');
    if (dot == std::string::npos) {
      if (knows(info, setting.name)) settings.push_back(std::move(setting));
    } else if (setting.name.substr(0, dot) == agent) {
      settings.push_back({setting.name.substr(dot + 1), setting.value});
    }
  }
  return settings;
}

// Runs are filed under their agent's name.
void check_agents(const std::vector<std::string>& agents) {
  for (auto agent = agents.begin(); agent != agents.end(); ++agent) {
    OAS_REQUIRE(std::find(agents.begin(), agent, *agent) == agent, "--agent: {} is named twice",
                *agent);
  }
}

// A misspelt setting must not be passed over in silence.
void check_settings(const LearnArguments& options) {
  for (const std::string& text : options.settings) {
    const Setting setting = parse_setting(text);
    const std::size_t dot = setting.name.find('.');
    const bool used =
        std::any_of(options.agents.begin(), options.agents.end(), [&](const std::string& agent) {
          if (dot == std::string::npos) return knows(find_agent(agent), setting.name);
          return setting.name.substr(0, dot) == agent &&
                 knows(find_agent(agent), setting.name.substr(dot + 1));
        });
    OAS_REQUIRE(used,
                "--set {}: none of the agents asked for has this setting; see oas learn "
                "--settings",
                text);
    const bool floor = setting.name == "iota" || setting.name.ends_with(".iota");
    OAS_REQUIRE(!floor,
                "--set {}: use --iota, which is also the floor of the policy that agents are "
                "measured against",
                text);
  }
}

// Made on trial: what is wrong with an agent, its settings or the model for it.
std::optional<std::string> fault_of(const LearningOptions& task, const Pomdp& model) {
  try {
    const AnyAgent agent = make_agent(task.agent, model, task.settings);
    OAS_REQUIRE(!agent.needs_hidden_state(),
                "with these settings it must be shown the hidden state, which no agent outside a "
                "simulation can be; a study has to allow it");
    return std::nullopt;
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

// Why an agent cannot play the model, whatever is set; none when it can. Bad settings throw.
std::optional<std::string> reason_not_to_play(const LearningOptions& task, const Pomdp& model) {
  const auto fault = fault_of(task, model);
  if (!fault) return std::nullopt;
  LearningOptions plain = task;
  std::erase_if(plain.settings, [](const Setting& setting) { return setting.name != "iota"; });
  auto reason = fault_of(plain, model);
  OAS_REQUIRE(reason.has_value(), "{}: {}", task.agent, *fault);
  return reason;
}

}  // namespace

std::string to_text(const LeftOut& left_out) {
  if (left_out.whole_agent) {
    return fmt::format("{} cannot play: {}", left_out.task.agent, left_out.reason);
  }
  return fmt::format("{}, run {}, stopped: {}", left_out.task.agent, left_out.task.replication,
                     left_out.reason);
}

LearnTasks make_learn_tasks(const LearnArguments& options, const Pomdp& model) {
  check_agents(options.agents);
  check_settings(options);
  LearnTasks tasks;
  for (int run = 0; run < options.runs; ++run) {
    for (const std::string& agent : options.agents) {
      LearningOptions task = options.each;
      task.agent = agent;
      task.settings = settings_of(options, agent);
      task.replication = static_cast<std::uint32_t>(run);
      task.validate();
      if (run == 0) {
        const auto reason = reason_not_to_play(task, model);
        if (reason) tasks.left_out.push_back({task, true, *reason});
      }
      const bool plays =
          std::none_of(tasks.left_out.begin(), tasks.left_out.end(),
                       [&](const LeftOut& left_out) { return left_out.task.agent == agent; });
      if (plays) tasks.runs.push_back(std::move(task));
    }
  }
  if (!tasks.runs.empty()) return tasks;
  std::string reasons;
  for (const LeftOut& left_out : tasks.left_out) {
    reasons += (reasons.empty() ? "" : "; ") + to_text(left_out);
  }
  throw InvalidArgument(fmt::format("{}: {}", options.model, reasons));
}

}  // namespace oas::cli
