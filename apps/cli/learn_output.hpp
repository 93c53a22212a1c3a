#pragma once

#include <string>
#include <vector>

#include "learn_tasks.hpp"
#include "oas/jobs/learning_run.hpp"
#include "oas/jobs/learning_runs.hpp"

/// What `oas learn` prints and writes.
namespace oas::cli {

/// The table of agents.
[[nodiscard]] std::string learn_text(const LearnArguments& options,
                                     const std::vector<LearningRun>& runs,
                                     const RegretOracle& oracle);

/// Throws InvalidArgument when the files of these runs cannot be written where -o says. Makes the
/// folder.
void check_output(const LearnArguments& options, const std::vector<LearningOptions>& tasks);

/// Writes two files for each run; says what was written.
[[nodiscard]] std::string write_runs(const LearnArguments& options,
                                     const std::vector<LearningRun>& runs, const Pomdp& model,
                                     const RegretOracle& oracle);

/// One warning for each agent and kind of failure: an agent may fail in every episode.
void warn_of_failures(const LearnArguments& options, const std::vector<LearningRun>& runs);

/// The records of all runs as JSON, those that were left out among them.
void print_records(const LearnArguments& options, const LearnTasks& tasks,
                   const std::vector<LearningRun>& runs, const Pomdp& model,
                   const RegretOracle& oracle);

}  // namespace oas::cli
