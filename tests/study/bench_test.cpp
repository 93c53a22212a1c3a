#include "oas/study/bench.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"

namespace oas {
namespace {

using testing::HasSubstr;

const std::string kStudyFile = std::string(OAS_SOURCE_DIR) + "/studies/benchmark.toml";
const std::string kListFile = std::string(OAS_SOURCE_DIR) + "/studies/" + std::string(kBenchList);

BenchList frozen() { return parse_bench_list(read_text_file(kListFile), kListFile); }

// Whoever changes an instance, by its rule, its story or its seed, makes another benchmark.
TEST(Bench, InstancesAreThoseOfTheList) {
  const std::vector<Task> instances = bench_instances(read_text_file(kStudyFile), kStudyFile);
  EXPECT_GE(instances.size(), 60U);
  EXPECT_NO_THROW(check_bench(instances, frozen(), kListFile));
  std::set<std::string> models;
  for (const std::vector<std::string>& row : frozen().rows) models.insert(row[2]);
  EXPECT_EQ(models.size(), instances.size()) << "no instance is there twice";
}

TEST(Bench, AnotherInstanceIsNoticed) {
  std::vector<Task> instances = bench_instances(read_text_file(kStudyFile), kStudyFile);
  std::swap(instances[0].settings, instances[1].settings);
  EXPECT_THROW(check_bench(instances, frozen(), kListFile), InvalidArgument);
  instances.pop_back();
  EXPECT_THROW(check_bench(instances, frozen(), kListFile), InvalidArgument);
}

// The list's optima against plans made now, where these are cheap.
TEST(Bench, OptimaAreThoseOfTheList) {
  const BenchList list = frozen();
  std::vector<Task> some;
  std::vector<std::vector<std::string>> expected;
  const std::vector<Task> all = bench_instances(read_text_file(kStudyFile), kStudyFile);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (list.rows[i][list.column("states")] != "2" || i % 3 != 0) continue;
    some.push_back(all[i]);
    expected.push_back(list.rows[i]);
  }
  ASSERT_GE(some.size(), 3U);
  const BenchList again = parse_bench_list(bench_list_csv(some, 1e-2), "again");
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (const char* gain : {"gain", "floor"}) {
      const auto number = [&](const std::vector<std::string>& row, const char* end) {
        return std::stod(row[list.column(std::string(gain) + end)]);
      };
      EXPECT_LE(number(again.rows[i], "_lower"), number(expected[i], "_upper")) << some[i].name;
      EXPECT_GE(number(again.rows[i], "_upper"), number(expected[i], "_lower")) << some[i].name;
    }
    const std::size_t memoryless = list.column("memoryless");
    EXPECT_NEAR(std::stod(again.rows[i][memoryless]), std::stod(expected[i][memoryless]), 1e-9);
  }
}

TEST(Bench, AChoiceStandsAtTheEndOfTheStudy) {
  const std::string text = read_text_file(kStudyFile);
  EXPECT_EQ(bench_study_text(text, {}), text);
  BenchChoice choice;
  choice.runs = 2;
  choice.steps = 500;
  choice.bands = {"weak", "classic"};
  BenchAgent agent;
  agent.label = agent.name = "psrl";
  choice.agents.push_back(agent);
  agent.label = "few";
  agent.settings = {{"particles", "30"}, {"move", "jitter"}};
  choice.agents.push_back(agent);
  agent = {};
  agent.label = "mine";
  agent.process = "say \"a\\b\"\n'c' ä";
  agent.timeout = 2.5;
  choice.agents.push_back(agent);
  const Study study = parse_study(bench_study_text(text, choice), kStudyFile);
  EXPECT_EQ(study.replications, 2);
  std::set<std::string> sweeps;
  for (const Task& task : study.tasks) {
    sweeps.insert(task.sweep);
    EXPECT_EQ(task.settings.integer("steps", 0), 500);
    if (task.settings.text("agent", "") == "few") {
      EXPECT_EQ(task.agent.text("agent", ""), "psrl");
      EXPECT_EQ(task.agent.text("move", ""), "jitter");
    }
    if (task.settings.text("agent", "") != "mine") continue;
    EXPECT_EQ(task.agent.text("process", ""), agent.process);
    EXPECT_DOUBLE_EQ(task.agent.number("timeout", 0.0), 2.5);
  }
  EXPECT_EQ(sweeps, (std::set<std::string>{"weak", "classic"}));
  EXPECT_EQ(study.tasks.size() % 3, 0U);
  choice.agents.back().label = "few";
  EXPECT_THROW(static_cast<void>(bench_study_text(text, choice)), InvalidArgument);
}

// Fair: as many settings for each agent, and never on an instance of the benchmark.
TEST(Bench, AgentsAreTunedOnOtherInstancesWithTheSameBudget) {
  const std::string file = std::string(OAS_SOURCE_DIR) + "/studies/tuning.toml";
  const Study study = read_study(file);
  std::set<std::string> frozen_models;
  for (const std::vector<std::string>& row : frozen().rows) frozen_models.insert(row[2]);
  for (const Task& instance : bench_instances(study.source, file)) {
    EXPECT_FALSE(frozen_models.contains(bench_fingerprint(instance))) << instance.name;
  }
  std::map<std::string, std::set<std::string>> settings;  // of each agent
  std::map<std::string, std::set<std::string>> labels;
  for (const Task& task : study.tasks) {
    const std::string agent = task.agent.text("agent", "");
    std::string text;
    for (const auto& [name, value] : task.agent.values()) text += name + "=" + to_text(value) + " ";
    settings[agent].insert(text);
    labels[agent].insert(task.settings.text("agent", ""));
  }
  for (const auto& [agent, all] : settings) {
    EXPECT_EQ(all.size(), 8U) << agent;
    EXPECT_EQ(labels[agent].size(), 8U) << agent << ": a setting is there twice";
    EXPECT_TRUE(all.contains("agent=" + agent + " ")) << agent << " as published";
  }
}

std::string list_text() {
  return read_text_file(std::string(OAS_SOURCE_DIR) + "/studies/oas-bench-1.csv");
}

void expect_refused(const std::string& text, const std::string& place, const std::string& words) {
  try {
    static_cast<void>(parse_bench_list(text, "l.csv"));
    FAIL() << words;
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("l.csv:" + place));
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(Bench, AListThatIsNoneIsRefusedWithThePlace) {
  const std::string whole = list_text();
  expect_refused("", "1:1", "empty");
  expect_refused("\xef\xbb\xbf", "1:1", "empty");
  expect_refused("a,b\n1,2\n", "1:1", "no column 'instance'");
  expect_refused(whole + "3\n", "", "1 cells; there are 18 columns");
  const std::string head = whole.substr(0, whole.find('\n') + 1);
  for (const std::string wrong : {"junk", "", "nan", "inf", "1e999", "0.5x", " 1", "0x1p3"}) {
    std::string row = "i,b,m,2,2,2,before," + wrong + ",1,1,1,1,1,1,1,1,all,1\n";
    expect_refused(head + row, "2:20", "alpha is '" + wrong + "'");
    row = "i,b,m,2,2,2,before,1,1,1,1,1,1,1,1,1,all," + wrong + "\n";
    expect_refused(head + row, "2:42", "uniform is '" + wrong + "'");
  }
  EXPECT_THROW(static_cast<void>(parse_bench_list(head, "l.csv").column("c")), InvalidArgument);
}

TEST(Bench, AListAsOtherEditorsWriteItIsTheSame) {
  const BenchList plain = parse_bench_list(list_text(), "l.csv");
  std::string text = "\xef\xbb\xbf";
  for (const char c : list_text()) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const BenchList other = parse_bench_list(text, "l.csv");
  EXPECT_EQ(other.columns, plain.columns);
  EXPECT_EQ(other.rows, plain.rows);
}

}  // namespace
}  // namespace oas
