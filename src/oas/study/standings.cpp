#include "oas/study/detail/standings.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "oas/learning/agents.hpp"

namespace oas::detail {

namespace {

constexpr double kLevel = 0.95;
constexpr int kResamples = 2000;
constexpr std::uint64_t kSeed = 1;

// The last row of each unit of one agent on one instance.
struct RunsOnInstance {
  std::vector<double> regret;
  std::vector<double> floor_regret;
  double seconds = 0.0;

  [[nodiscard]] double mean() const { return mean_of(regret); }
  static double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
};

using ByInstance = std::map<std::string, RunsOnInstance>;
using ByAgent = std::map<std::string, ByInstance>;

std::map<std::string, ByAgent> collect(const ResultTable& table, const UnitSeconds& seconds) {
  const std::size_t unit_column = table.column("task");
  const std::size_t sweep_column = table.column("sweep");
  const std::size_t agent_column = table.column("agent");
  const std::size_t regret_column = table.column("expected_regret");
  const std::size_t floor_column = table.column("expected_regret_floor");
  std::vector<std::size_t> instance_columns;
  for (const char* name : {"size", "generator", "candidate", "instance", "epsilon", "iota"}) {
    instance_columns.push_back(table.column(name));
  }
  std::map<std::string, ByAgent> sweeps;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const ResultRow& row = table.rows[i];
    const bool last =
        i + 1 == table.rows.size() || table.rows[i + 1][unit_column] != row[unit_column];
    const double regret = to_number(row[regret_column]);
    if (!last || !std::isfinite(regret)) continue;
    const std::string sweep = to_text(row[sweep_column]);
    std::string instance = sweep;
    for (const std::size_t column : instance_columns) instance += "\n" + to_text(row[column]);
    RunsOnInstance& runs = sweeps[sweep][to_text(row[agent_column])][instance];
    runs.regret.push_back(regret);
    runs.floor_regret.push_back(to_number(row[floor_column]));
    const auto time = seconds.find(std::get<std::int64_t>(row[unit_column]));
    if (time != seconds.end()) runs.seconds += time->second;
  }
  return sweeps;
}

using Failures = std::map<std::string, std::vector<const FailedUnit*>>;  // by agent

// Of one sweep, or of all.
Failures failures_in(const std::vector<FailedUnit>& failed, const std::string& sweep) {
  Failures failures;
  for (const FailedUnit& unit : failed) {
    if (sweep.empty() || unit.sweep == sweep) failures[unit.agent].push_back(&unit);
  }
  return failures;
}

// Takes out those who failed; their runs that did not fail stand for nothing.
std::vector<Standing> without_place(ByAgent& agents, const Failures& failures) {
  const bool all = std::all_of(agents.begin(), agents.end(),
                               [&](const auto& agent) { return failures.contains(agent.first); });
  std::vector<Standing> out;
  for (const auto& [agent, units] : failures) {
    if (all && agents.contains(agent)) continue;
    Standing& standing = out.emplace_back();
    standing.agent = agent;
    standing.failed = static_cast<std::int64_t>(units.size());
    standing.message = units.front()->message;
    for (const auto& [instance, runs] : agents[agent]) {
      standing.runs += static_cast<std::int64_t>(runs.regret.size());
    }
    agents.erase(agent);
  }
  return out;
}

// All sweeps as one, where it is the same agents that played in each.
std::optional<ByAgent> together(const std::map<std::string, ByAgent>& sweeps) {
  if (sweeps.size() < 2) return std::nullopt;
  ByAgent all;
  for (const auto& [sweep, agents] : sweeps) {
    const ByAgent& first = sweeps.begin()->second;
    const bool same = std::equal(agents.begin(), agents.end(), first.begin(), first.end(),
                                 [](const auto& a, const auto& b) { return a.first == b.first; });
    if (!same) return std::nullopt;
    for (const auto& [agent, instances] : agents) {
      all[agent].insert(instances.begin(), instances.end());
    }
  }
  return all;
}

// On which all agents have runs.
std::vector<std::string> common_instances(const ByAgent& agents) {
  std::vector<std::string> common;
  if (agents.empty()) return common;
  for (const auto& [instance, runs] : agents.begin()->second) {
    const bool everywhere = std::all_of(agents.begin(), agents.end(), [&](const auto& agent) {
      return agent.second.contains(instance);
    });
    if (everywhere) common.push_back(instance);
  }
  return common;
}

bool has_to_learn(const std::string& agent) {
  const std::span<const AgentInfo> known = agents();
  return std::none_of(known.begin(), known.end(), [&](const AgentInfo& info) {
    return info.name == agent && info.knows_dynamics;
  });
}

MeanInterval interval(const std::vector<double>& values) {
  Rng rng({kSeed, 0, Role::bootstrap});
  return bootstrap_interval(values, kLevel, kResamples, rng);
}

std::vector<double> means(const ByInstance& runs, const std::vector<std::string>& instances) {
  std::vector<double> values;
  values.reserve(instances.size());
  for (const std::string& instance : instances) values.push_back(runs.at(instance).mean());
  return values;
}

Standing standing_of(const ByInstance& runs, const std::vector<std::string>& instances) {
  Standing standing;
  const std::vector<double> regret = means(runs, instances);
  std::vector<double> floor_regret;
  standing.instances = static_cast<std::int64_t>(instances.size());
  standing.regret = interval(regret);
  standing.median = median(regret);
  standing.worst_instance = *std::max_element(regret.begin(), regret.end());
  standing.worst_run = standing.worst_instance;
  for (const std::string& instance : instances) {
    const RunsOnInstance& on = runs.at(instance);
    standing.runs += static_cast<std::int64_t>(on.regret.size());
    standing.seconds += on.seconds;
    floor_regret.push_back(RunsOnInstance::mean_of(on.floor_regret));
    for (const double value : on.regret) standing.worst_run = std::max(standing.worst_run, value);
  }
  standing.seconds /= static_cast<double>(standing.runs);
  standing.floor_regret = RunsOnInstance::mean_of(floor_regret);
  return standing;
}

void add_standings(const std::string& sweep, ByAgent agents, const Failures& failures,
                   std::vector<Standing>& standings) {
  std::vector<Standing> out = without_place(agents, failures);
  for (Standing& standing : out) standing.sweep = sweep;
  const std::vector<std::string> instances = common_instances(agents);
  std::vector<Standing> mine;
  if (instances.empty()) agents.clear();
  for (const auto& [agent, runs] : agents) {
    mine.push_back(standing_of(runs, instances));
    mine.back().sweep = sweep;
    mine.back().agent = agent;
    const auto failed = failures.find(agent);
    if (failed == failures.end()) continue;
    mine.back().failed = static_cast<std::int64_t>(failed->second.size());
    mine.back().message = failed->second.front()->message;
  }
  std::stable_sort(mine.begin(), mine.end(), [](const Standing& a, const Standing& b) {
    return a.regret.mean < b.regret.mean;
  });
  const auto best = std::find_if(mine.begin(), mine.end(),
                                 [](const Standing& one) { return has_to_learn(one.agent); });
  for (Standing& standing : mine) {
    if (best == mine.end() || standing.agent == best->agent) continue;
    std::vector<double> difference = means(agents.at(standing.agent), instances);
    const std::vector<double> least = means(agents.at(best->agent), instances);
    for (std::size_t i = 0; i < least.size(); ++i) difference[i] -= least[i];
    standing.behind = interval(difference);
  }
  standings.insert(standings.end(), mine.begin(), mine.end());
  standings.insert(standings.end(), out.begin(), out.end());
}

}  // namespace

std::vector<Standing> standings(const KindResults& results) {
  const std::map<std::string, ByAgent> sweeps = collect(results.table, results.seconds);
  std::vector<Standing> standings;
  if (const auto all = together(sweeps)) {
    add_standings({}, *all, failures_in(results.failed, {}), standings);
  }
  for (const auto& [sweep, agents] : sweeps) {
    add_standings(sweep, agents, failures_in(results.failed, sweep), standings);
  }
  return standings;
}

std::string standings_csv(const std::vector<Standing>& standings) {
  std::string text =
      "sweep,agent,instances,runs,expected_regret,lower,upper,median,worst_instance,worst_run,"
      "expected_regret_floor,behind_best,behind_lower,behind_upper,failed_runs\n";
  for (const Standing& one : standings) {
    if (!one.has_place()) {
      ResultRow row(15);
      row[0] = one.sweep;
      row[1] = one.agent;
      row[2] = std::int64_t{0};
      row[3] = one.runs;
      row[14] = one.failed;
      text += to_csv(row);
      continue;
    }
    ResultRow row = {one.sweep,          one.agent,        one.instances,    one.runs,
                     one.regret.mean,    one.regret.lower, one.regret.upper, one.median,
                     one.worst_instance, one.worst_run,    one.floor_regret};
    for (const auto part : {&MeanInterval::mean, &MeanInterval::lower, &MeanInterval::upper}) {
      row.push_back(one.behind ? Cell{(*one.behind).*part} : Cell{});
    }
    row.push_back(one.failed);
    text += to_csv(row);
  }
  return text;
}

}  // namespace oas::detail
