#include "learn_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "oas/core/version.hpp"
#include "oas/study/statistics.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kWorthTelling = 1.0;  // of regret

std::string mean_and_interval(const std::vector<double>& values) {
  const MeanInterval interval = student_interval(values);
  if (interval.count < 2) return fmt::format("{:.1f}", interval.mean);
  return fmt::format("{:.1f} ± {:.1f}", interval.mean, interval.upper - interval.mean);
}

// Regret is counted against gains that are known to an interval, which adds up over the steps.
std::string what_the_oracle_leaves_open(const LearnArguments& options, const RegretOracle& oracle) {
  const auto steps = static_cast<double>(options.each.steps);
  const double off = steps * oracle.gain_error;
  const double off_floor = steps * oracle.floor_gain_error;
  if (std::max(off, off_floor) < kWorthTelling) return "";
  return fmt::format(
      "  the best gains are not known better: every regret may be off by {:.2g}, "
      "with floor by {:.2g}\n",
      off, off_floor);
}

}  // namespace

std::string learn_text(const LearnArguments& options, const std::vector<LearningRun>& runs,
                       const RegretOracle& oracle) {
  Table table({"agent", "expected regret", "with floor", "realised", "reward/step", "episodes",
               "failures", "seconds"});
  for (const std::string& agent : options.agents) {
    const AgentSummary all = summarise_agent(agent, runs, oracle);
    if (all.num_runs() == 0) {
      table.add({agent, "left out", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    table.add({agent, mean_and_interval(all.expected_regret),
               mean_and_interval(all.expected_regret_floor), mean_and_interval(all.realised_regret),
               fmt::format("{:.5f}", all.mean_reward / static_cast<double>(options.each.steps)),
               fmt::format("{:.0f}", all.mean_episodes), fmt::format("{}", all.failures),
               fmt::format("{:.2f}", all.mean_seconds)});
  }
  return fmt::format("{}, {} each; best gain {:.6f} ± {:.1g}, with floor {:.3g}: {:.6f} ± {:.1g}\n",
                     counted(options.each.steps, "step"), counted(options.runs, "run"), oracle.gain,
                     oracle.gain_error, oracle.floor, oracle.floor_gain, oracle.floor_gain_error) +
         table.text() + (options.runs > 1 ? "  ± is the 95 % interval over runs\n" : "") +
         what_the_oracle_leaves_open(options, oracle);
}

// One warning for each agent and kind of failure: an agent may fail in every episode.
void warn_of_failures(const LearnArguments& options, const std::vector<LearningRun>& runs) {
  for (const FailureGroup& group : group_failures(runs)) {
    const std::string more =
        group.count == 1 ? "" : fmt::format("; the first of {} of this kind", group.count);
    warn(options.common, fmt::format("{}, run {}, step {}: {}{}", group.agent, group.replication,
                                     group.step, group.message, more));
  }
}

namespace {

// The record of what did not play has the reason in place of results.
Json left_out_to_json(const LeftOut& left_out) {
  Json settings = Json::object();
  for (const Setting& setting : left_out.task.settings) settings[setting.name] = setting.value;
  Json record = {{"format", "oas-run/1"},        {"version", version()},
                 {"agent", left_out.task.agent}, {"settings", std::move(settings)},
                 {"steps", left_out.task.steps}, {"seed", left_out.task.seed}};
  if (!left_out.whole_agent) record["replication"] = left_out.task.replication;
  record["left_out"] = left_out.reason;
  return record;
}

}  // namespace

void print_records(const LearnArguments& options, const LearnTasks& tasks,
                   const std::vector<LearningRun>& runs, const Pomdp& model,
                   const RegretOracle& oracle) {
  Json records = Json::array();
  for (const LearningRun& each : runs) records.push_back(run_to_json(each, model, oracle));
  for (const LeftOut& each : tasks.left_out) records.push_back(left_out_to_json(each));
  print_json(options.common, records.size() == 1 ? records.front() : records);
}

}  // namespace oas::cli
