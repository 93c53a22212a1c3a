#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "agent_http.hpp"
#include "agent_warnings.hpp"
#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/agents.hpp"
#include "oas/live/live_agent.hpp"
#include "setting_options.hpp"
#include "stop_signals.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

struct AgentArguments {
  Common common;
  std::string model;
  std::vector<std::string> settings;
  std::vector<Setting> given;
  LiveOptions live;
  HttpArguments http;
};

LiveOptions live_options(const AgentArguments& arguments) {
  auto options = options_from<LiveOptions>(arguments.given, "oas agent");
  options.journal = arguments.live.journal;
  options.agent = arguments.live.agent;
  options.seed = arguments.live.seed;
  for (const std::string& text : arguments.settings) {
    options.settings.push_back(parse_setting(text));
  }
  return options;
}

void write_line(std::string line) {
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    throw IoError("standard output: an answer cannot be written");
  }
}

// One line without its end; of a longer one as much as says so. False at the end.
bool read_line(std::string& line, std::size_t most) {
  line.clear();
  int c = std::getc(stdin);
  if (c == EOF) return false;
  for (; c != EOF && c != '\n'; c = std::getc(stdin)) {
    if (line.size() <= most) line += static_cast<char>(c);
  }
  return true;
}

void serve_standard_input(LiveAgent& agent, const LiveOptions& options) {
  for (std::string line; read_line(line, options.max_body);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) write_line(agent.answer(line));
  }
}

void run_agent(const AgentArguments& arguments) {
  const LiveOptions options = live_options(arguments);
  check_http_options(arguments.http, arguments.common);
  std::optional<StopSignals> signals;
  if (arguments.http.wanted()) signals.emplace();  // before there are threads
  LiveAgent agent(load_any_model(arguments.model, arguments.common), options);
  for (const std::string& note : agent.notes()) warn(arguments.common, note);
  const WarningLog log(agent, arguments.common);
  if (signals) {
    serve_agent(agent, arguments.http, arguments.common, *signals);
  } else {
    serve_standard_input(agent, options);
  }
}

}  // namespace

void add_agent(CLI::App& app) {
  const auto options = std::make_shared<AgentArguments>();
  CLI::App* verb = add_verb(
      app, "agent", "Act for a real system: read requests, answer with actions, keep a journal",
      options->common, [options] { run_agent(*options); });
  add_model_argument(*verb, "MODEL", options->model,
                     "Model file or problem name; learners do not see its transition",
                     options->common);
  verb->add_option("--agent", options->live.agent, "The agent (see oas list)")
      ->capture_default_str();
  verb->add_option("--journal", options->live.journal,
                   "Folder of the journal; created, or continued if it exists")
      ->required();
  verb->add_option("--set", options->settings, "name=value, a setting of the agent")
      ->allow_extra_args(false);
  add_seed(*verb, options->live.seed, "Seed of the agent's draws");
  for (const SettingInfo& setting : describe_options<LiveOptions>()) {
    add_setting(*verb, setting, options->given);
  }
  add_http_options(*verb, options->http, options->common);
}

}  // namespace oas::cli
