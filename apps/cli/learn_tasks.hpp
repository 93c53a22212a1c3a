#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/jobs/learning_run.hpp"

/// What `oas learn` was asked to do, checked.
namespace oas::cli {

struct LearnArguments {
  Common common;
  std::string model;
  std::vector<std::string> agents = {"oas-ucrl-ml"};
  std::vector<std::string> settings;
  std::optional<double> iota;
  LearningOptions each;  ///< of all runs: steps, seed, checkpoints
  int runs = 1;
  std::optional<double> oracle_gap;
  bool no_cache = false;
  std::string output;

  template <class Fields>
  void visit(Fields& fields) {
    fields("runs", runs, {1}, "runs of each agent");
    fields("iota", iota, {0.0},
           "floor of the agents, and of the oracle with floor (default: 1/(10 A))");
    fields("oracle_gap", oracle_gap, {kAboveZero},
           "precision of the best gains, where the budget allows; the output says what was reached "
           "(default 1/steps of the range of rewards, at least of 1)");
  }
};

/// An agent that did not play, or a run that broke off, and why.
struct LeftOut {
  LearningOptions task;
  bool whole_agent = true;  ///< or this run alone
  std::string reason;
};

struct LearnTasks {
  std::vector<LearningOptions> runs;
  std::vector<LeftOut> left_out;
};

/// One task for each run of each agent. An agent that cannot play the model is left out, so that
/// the others can go on. Throws InvalidArgument on agents that are unknown or named twice, on
/// settings that are misspelt or have bad values, and when no agent can play.
[[nodiscard]] LearnTasks make_learn_tasks(const LearnArguments& options, const Pomdp& model);

/// "seeu cannot play: …".
[[nodiscard]] std::string to_text(const LeftOut& left_out);

}  // namespace oas::cli
