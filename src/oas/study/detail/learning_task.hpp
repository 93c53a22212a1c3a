#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oas/jobs/learning_run.hpp"
#include "oas/jobs/process_agent.hpp"
#include "oas/study/instance.hpp"
#include "oas/study/study.hpp"

/// What a task of kind `learning` says: on which instance who learns.
namespace oas::detail {

struct LearningTask {
  InstanceRule instance;
  std::optional<Pomdp> named;  ///< the model where it is not random
  std::optional<Timing> timing;
  double floor = 0.0;
  std::optional<ProcessAgentOptions> process;  ///< the agent where it is a program of its own
  LearningOptions options;
};

/// Throws InvalidArgument naming the setting and the value. Starts no program.
[[nodiscard]] LearningTask read_learning(const Task& task);

/// The settings by which instances differ.
[[nodiscard]] std::string instance_key(const Task& task);

/// The same model with rows of that timing.
[[nodiscard]] Pomdp in_timing(const Pomdp& model, std::optional<Timing> timing);

[[nodiscard]] Instance instance_of(const LearningTask& read, std::uint32_t replication);

/// What legends call the instance.
[[nodiscard]] std::string words_for(const Task& task, const LearningTask& read,
                                    const Instance& instance);

}  // namespace oas::detail
