#include "oas/study/detail/learning_task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/sensors/revealing.hpp"

namespace oas::detail {

namespace {

constexpr std::string_view kRandom = "random";

bool has_setting(const AgentInfo& info, const std::string& name) {
  const auto list = info.settings();
  return std::any_of(list.begin(), list.end(),
                     [&](const SettingInfo& known) { return known.name == name; });
}

// A program that is an agent, and how long to wait for its answers.
ProcessAgentOptions process_options(const TaskSettings& settings) {
  ProcessAgentOptions options;
  for (const auto& [name, value] : settings.values()) {
    const bool known = name == "agent" || name == "process" || name == "timeout";
    OAS_REQUIRE(known, "an agent that is a program has no setting '{}'; it has process and timeout",
                name);
  }
  options.command = settings.text("process", "");
  options.timeout = settings.number("timeout", options.timeout);
  options.validate();
  return options;
}

// An agent of the table with its settings.
void read_agent(const Task& task, LearningTask& read) {
  const AgentInfo& info = find_agent(read.options.agent);
  if (task.settings.has("iota") && !task.agent.has("iota") && has_setting(info, "iota")) {
    read.options.settings.push_back({"iota", fmt::format("{}", read.floor)});
  }
  for (const auto& [name, value] : task.agent.values()) {
    if (name == "agent") continue;
    OAS_REQUIRE(has_setting(info, name), "agent {} has no setting '{}'; see oas learn --settings",
                read.options.agent, name);
    read.options.settings.push_back({name, to_text(value)});
  }
}

}  // namespace

LearningTask read_learning(const Task& task) {
  const TaskSettings& settings = task.settings;
  LearningTask read;
  read.instance = InstanceRule::from(settings, task.seed);
  const std::string model = settings.text("model", std::string(kRandom));
  if (model != kRandom) read.named = model_setting(settings, model);
  if (settings.text("timing", "own") != "own") read.timing = timing_setting(settings);
  read.floor =
      floor_setting(settings, read.named ? read.named->num_actions() : read.instance.num_actions);
  read.options.agent = task.agent.text("agent", "");
  if (task.agent.has("process")) {
    read.process = process_options(task.agent);
  } else {
    read_agent(task, read);
  }
  read.options.steps = settings.integer("steps", 100'000);
  const std::int64_t checkpoints = settings.integer("checkpoints", 100);
  OAS_REQUIRE(checkpoints >= 1 && checkpoints <= 10'000, "checkpoints is {}; 1 to 10000",
              checkpoints);
  OAS_REQUIRE(read.options.steps >= checkpoints && read.options.steps <= 1'000'000'000,
              "steps is {}; it must lie between checkpoints, {}, and 1e9", read.options.steps,
              checkpoints);
  read.options.checkpoints = static_cast<int>(checkpoints);
  read.options.seed = task.seed;
  read.options.allow_hidden_state = true;  // the paper helps SEEU so
  return read;
}

std::string instance_key(const Task& task) {
  std::string name = task.settings.text("size", "3x3x3");
  for (const char* key :
       {"model", "timing", "generator", "epsilon", "alpha_quantile", "sigma_quantile", "alpha"}) {
    const auto found = task.settings.values().find(key);
    if (found != task.settings.values().end()) {
      name += fmt::format(" {} {}", key, to_text(found->second));
    }
  }
  return name;
}

Pomdp in_timing(const Pomdp& model, std::optional<Timing> timing) {
  if (!timing || *timing == model.timing()) return model;
  PomdpParts parts = model.parts();
  parts.timing = *timing;
  return Pomdp(std::move(parts));
}

Instance instance_of(const LearningTask& read, std::uint32_t replication) {
  if (!read.named) {
    Instance instance = make_instance(read.instance, replication);
    instance.model = in_timing(instance.model, read.timing);
    return instance;
  }
  Pomdp model = in_timing(*read.named, read.timing);
  const double alpha = analyse_sensors(model.sensors()).alpha;
  const double sigma = least_transition_value(model.transition());
  return {std::move(model), read.named->transition(), alpha, sigma, /*candidate=*/0};
}

std::string words_for(const Task& task, const LearningTask& read, const Instance& instance) {
  const std::string timing =
      read.timing ? fmt::format(", {}", to_string(*read.timing)) : std::string();
  if (read.named) return task.settings.text("model", "") + timing;
  return fmt::format("α {:.2g}, σ {:.2g}{}", instance.alpha, instance.sigma, timing);
}

}  // namespace oas::detail
