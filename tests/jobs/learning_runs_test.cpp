#include "oas/jobs/learning_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oas/core/interruption.hpp"
#include "oas/problems/named.hpp"

namespace oas {
namespace {

using Kind = Episode::Failure::Kind;
using testing::HasSubstr;

LearningRun run_with(const char* agent, std::uint32_t replication,
                     const std::vector<std::optional<Episode::Failure>>& failures) {
  LearningRun run;
  run.options.agent = agent;
  run.options.replication = replication;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    Episode episode;
    episode.start = static_cast<std::int64_t>(100 * i);
    episode.failure = failures[i];
    run.episodes.push_back(episode);
  }
  return run;
}

TEST(LearningRuns, FailuresAreGroupedByAgentAndKindWithTheirFirstMessage) {
  const std::vector<LearningRun> runs = {
      run_with("seeu", 0, {std::nullopt, {{Kind::undetermined_row, "row (0, 1): 3 visits"}}}),
      run_with("psrl", 0, {{{Kind::collapsed_particles, "collapsed"}}}),
      run_with("seeu", 1,
               {{{Kind::undetermined_row, "row (1, 1): 5 visits"}},
                {{Kind::likelihood_cut, "after 10 passes"}}})};
  const std::vector<FailureGroup> groups = group_failures(runs);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].agent, "psrl");
  EXPECT_EQ(groups[0].count, 1);
  EXPECT_EQ(groups[1].kind, Kind::undetermined_row);
  EXPECT_EQ(groups[1].count, 2);
  EXPECT_EQ(groups[1].message, "row (0, 1): 3 visits");
  EXPECT_EQ(groups[1].step, 100);
  EXPECT_EQ(groups[2].kind, Kind::likelihood_cut);
  EXPECT_EQ(groups[2].replication, 1U);
  EXPECT_EQ(runs[2].num_failures(), 2);
}

TEST(LearningRuns, ABrokenRunLeavesTheOthersAlone) {
  const Pomdp model = make_problem("pest-control");
  const RegretOracle oracle(model, {.floor = 0.05, .gap = 1e-3}, Parallelism{1});
  std::vector<LearningOptions> tasks(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    tasks[i].agent = "uniform";
    tasks[i].steps = 300;
    tasks[i].checkpoints = 3;
    tasks[i].replication = i;
  }
  tasks[1].agent = "nobody";
  std::int64_t steps = 0;
  const auto count = [&](const LearningRun& /*run*/, std::int64_t more) { steps += more; };
  const LearningRuns runs = learn_all(model, oracle, tasks, count, {2});
  ASSERT_EQ(runs.finished.size(), 2U);
  EXPECT_EQ(runs.finished[1].options.replication, 2U);
  EXPECT_EQ(run_csv_rows(runs.finished[1], oracle),
            run_csv_rows(learn(model, oracle, tasks[2]), oracle));
  ASSERT_EQ(runs.broken.size(), 1U);
  EXPECT_THAT(runs.broken[0].reason, HasSubstr("there is no agent 'nobody'"));
  EXPECT_EQ(steps, 600);
  const AgentSummary both = summarise_agent("uniform", runs.finished, oracle);
  EXPECT_EQ(both.num_runs(), 2U);
  EXPECT_EQ(both.failures, 0);
  EXPECT_EQ(summarise_agent("nobody", runs.finished, oracle).num_runs(), 0U);
}

// Ctrl-C is no reason for which one run breaks off.
TEST(LearningRuns, InterruptedRunsEndAll) {
  const Pomdp model = make_problem("pest-control");
  const RegretOracle oracle(model, {.floor = 0.05, .gap = 1e-3}, Parallelism{1});
  std::vector<LearningOptions> tasks(3);
  for (LearningOptions& task : tasks) task.agent = "uniform";
  StopFlag stop{false};
  const StopScope scope(&stop);
  const auto interrupt = [&](const LearningRun&, std::int64_t) { stop = true; };
  EXPECT_THROW(static_cast<void>(learn_all(model, oracle, tasks, interrupt, {2})), Interrupted);
}

}  // namespace
}  // namespace oas
