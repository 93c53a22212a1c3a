#include "oas/study/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/markup.hpp"
#include "oas/model/model_json.hpp"
#include "oas/planning/oracles.hpp"
#include "oas/study/detail/learning_task.hpp"
#include "oas/study/result_table.hpp"

namespace oas {

namespace {

// As a TOML string; what JSON escapes, TOML understands.
std::string toml_text(std::string_view text) { return nlohmann::json(std::string(text)).dump(); }

std::string toml_text(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(toml_text(text));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string table_of(const BenchAgent& agent) {
  const bool plain = agent.name == agent.label && agent.settings.empty();
  if (plain) return {};
  std::string text = fmt::format("\n[agents.{}]\n", toml_text(agent.label));
  if (agent.name.empty()) {
    text += fmt::format("process = {}\n", toml_text(agent.process));
    if (agent.timeout > 0.0) text += fmt::format("timeout = {}\n", agent.timeout);
    return text;
  }
  text += fmt::format("agent = {}\n", toml_text(agent.name));
  for (const Setting& setting : agent.settings) {
    text += fmt::format("{} = {}\n", toml_text(setting.name), toml_text(setting.value));
  }
  return text;
}

std::string fingerprint_of(const Pomdp& model) {
  return fmt::format("{:016x}", fingerprint(dump_json(model_to_json(model))));
}

double least_entry(const TransitionModel& transition) {
  double least = 1.0;
  for (const double value : transition.values()) least = std::min(least, value);
  return least;
}

constexpr const char* kHead =
    "instance,band,model,states,actions,observations,timing,alpha,sigma,epsilon,gain_lower,"
    "gain_upper,floor,floor_lower,floor_upper,memoryless,tried,uniform\n";

ResultRow examined(const Task& task, double gap) {
  const detail::LearningTask read = detail::read_learning(task);
  const Instance instance = detail::instance_of(read, 0);
  const Pomdp& model = instance.model;
  const double scaled = gap * oracle_gap_for(model, 1);
  const RegretOracle oracle(model, {.floor = read.floor, .gap = scaled}, Parallelism{1});
  const MemorylessResult memoryless = best_memoryless(model);
  return {task.name,
          task.sweep,
          fingerprint_of(model),
          std::int64_t{model.num_states()},
          std::int64_t{model.num_actions()},
          std::int64_t{model.num_observations()},
          std::string(to_string(model.timing())),
          instance.alpha,
          instance.sigma,
          least_entry(model.transition()),
          oracle.plan.gain_lower,
          oracle.plan.gain_upper,
          read.floor,
          oracle.floor_plan.gain_lower,
          oracle.floor_plan.gain_upper,
          memoryless.gain,
          std::string(memoryless.exhaustive ? "all" : "some"),
          uniform_gain(model)};
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

// The whole cell is one.
std::optional<double> finite_number(const std::string& cell) {
  double value = 0.0;
  const char* const end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return {};
  return value;
}

constexpr std::array<std::string_view, 10> kNumbers = {
    "alpha", "sigma",       "epsilon",     "gain_lower", "gain_upper",
    "floor", "floor_lower", "floor_upper", "memoryless", "uniform"};

void check_columns(const BenchList& list, const std::string& file) {
  std::string_view head = kHead;
  head.remove_suffix(1);
  for (const std::string& name : cells_of(head)) {
    if (std::find(list.columns.begin(), list.columns.end(), name) == list.columns.end()) {
      throw ParseError(file, 1, 1, fmt::format("the list has no column '{}'", name));
    }
  }
}

void check_numbers(const std::vector<std::string>& columns, const std::vector<std::string>& cells,
                   const std::string& file, long line) {
  std::size_t at = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool wanted = std::find(kNumbers.begin(), kNumbers.end(), columns[i]) != kNumbers.end();
    if (wanted && !finite_number(cells[i])) {
      throw ParseError(file, line, static_cast<long>(at),
                       fmt::format("{} is '{}'; it must be a finite number", columns[i],
                                   escape_line(cells[i], 80)));
    }
    at += cells[i].size() + 1;
  }
}

}  // namespace

std::string bench_study_text(std::string_view study, const BenchChoice& choice) {
  std::string text(study);
  if (choice.all()) return text;
  std::set<std::string> labels;
  std::vector<std::string> names;
  for (const BenchAgent& agent : choice.agents) {
    OAS_REQUIRE(labels.insert(agent.label).second, "two agents are called '{}'", agent.label);
    names.push_back(agent.label);
    text += table_of(agent);
  }
  text += "\n[instead]\nanswer = \"\"\n";
  if (choice.runs) text += fmt::format("replications = {}\n", *choice.runs);
  if (!choice.bands.empty()) text += fmt::format("only = {}\n", toml_text(choice.bands));
  text += "[instead.settings]\n";
  if (!names.empty()) text += fmt::format("agent = {}\n", toml_text(names));
  if (choice.steps) text += fmt::format("steps = {}\n", *choice.steps);
  return text;
}

std::vector<Task> bench_instances(std::string_view study, const std::string& file) {
  BenchChoice choice;
  choice.agents.emplace_back();
  choice.agents.back().label = choice.agents.back().name = "uniform";
  return parse_study(bench_study_text(study, choice), file).tasks;
}

std::string bench_fingerprint(const Task& instance) {
  return fingerprint_of(detail::instance_of(detail::read_learning(instance), 0).model);
}

std::string bench_list_csv(const std::vector<Task>& instances, double gap,
                           Parallelism parallelism) {
  std::vector<std::string> lines(instances.size());
  parallel_for(instances.size(), parallelism,
               [&](std::size_t i) { lines[i] = to_csv(examined(instances[i], gap)); });
  return kHead + fmt::format("{}", fmt::join(lines, ""));
}

std::size_t BenchList::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  OAS_REQUIRE(found != columns.end(), "the list has no column '{}'", name);
  return static_cast<std::size_t>(found - columns.begin());
}

double BenchList::number(std::size_t row, std::string_view name) const {
  const std::optional<double> value = finite_number(rows.at(row).at(column(name)));
  OAS_REQUIRE(value.has_value(), "the list has no number '{}' in row {}", name, row);
  return *value;
}

BenchList parse_bench_list(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) throw ParseError(file, 1, 1, "the list is empty");
  BenchList list;
  for (long line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.ends_with('\r')) content.remove_suffix(1);
    std::vector<std::string> cells = cells_of(content);
    if (line == 1) {
      list.columns = std::move(cells);
      check_columns(list, file);
      continue;
    }
    if (cells.size() != list.columns.size()) {
      throw ParseError(
          file, line, 1,
          fmt::format("{} cells; there are {} columns", cells.size(), list.columns.size()));
    }
    check_numbers(list.columns, cells, file, line);
    list.rows.push_back(std::move(cells));
  }
  return list;
}

void check_bench(const std::vector<Task>& instances, const BenchList& list,
                 const std::string& file) {
  const std::size_t name = list.column("instance");
  const std::size_t model = list.column("model");
  OAS_REQUIRE(instances.size() == list.rows.size(), "{}: {} has {} instances, and the study has {}",
              file, kBenchVersion, list.rows.size(), instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const std::vector<std::string>& row = list.rows[i];
    OAS_REQUIRE(instances[i].name == row[name], "{}: instance {} is '{}', and the study has '{}'",
                file, i, row[name], instances[i].name);
    const std::string found = bench_fingerprint(instances[i]);
    OAS_REQUIRE(found == row[model],
                "{}: '{}' is another model than that of {} ({}, and {} in the list)", file,
                row[name], kBenchVersion, found, row[model]);
  }
}

}  // namespace oas
