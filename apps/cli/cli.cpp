#include "cli.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "command.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/markup.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/logs/log_shards.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

// A model is read more than once, which a pipe does not allow.
bool is_model_file(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return false;
  OAS_REQUIRE(!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode) && !S_ISCHR(info.st_mode),
              "{}: a model cannot come from a pipe or a device; write it to a file first", path);
  return true;
}

void write_all(std::FILE* out, const std::string& text) {
  if (CommandOutput* const captured = captured_output()) {
    captured->printed += text;
    return;
  }
  if (text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
    throw IoError("standard output: write failed");
  }
}

// The first line of a log that is no comment names its columns.
bool looks_like_log(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.starts_with('#')) {
  }
  const std::string cells = "," + line + ",";
  const auto has = [&](const char* cell) { return cells.find(cell) != std::string::npos; };
  return has(",action,") && (has(",observation") || has(",likelihood_"));
}

ReadModel read_model_file(const std::string& name, const Common& common) {
  try {
    return read_any_model(name, {.lenient = common.lenient});
  } catch (const ParseError&) {
    OAS_REQUIRE(!looks_like_log(name), "{}: this is a log, but a model is expected", name);
    throw;
  }
}

std::vector<std::string> names_in(const std::vector<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) {
    names.insert(names.end(), option->results().begin(), option->results().end());
  }
  return names;
}

void check_conditions(const Common& common) {
  for (const auto& [options, holds, why_not] : common.conditions) {
    const bool given = std::any_of(options.begin(), options.end(), [&](const std::string& option) {
      return common.verb->count(option) > 0;
    });
    if (given && !holds()) refuse_options(common, options, why_not);
  }
}

}  // namespace

std::FILE* Common::printed() const {
  const std::vector<std::string> names = names_in(outputs);
  return std::any_of(names.begin(), names.end(), is_standard_output) ? stderr : stdout;
}

CLI::App* add_verb(CLI::App& app, const char* name, const char* summary, Common& common,
                   std::function<void()> run) {
  CLI::App* verb = app.add_subcommand(name, summary);
  common.verb = verb;
  verb->add_flag("--json", common.json, "Print a JSON document instead of text");
  verb->add_flag("-q,--quiet", common.quiet, "Print only errors and results that were asked for");
  add_whole_number(*verb, "--threads", common.threads, {0, 1024},
                   "Threads, 0 = all cores; results do not depend on it")
      ->capture_default_str();
  verb->callback([&common, run = std::move(run)] {
    std::vector<std::string> inputs = names_in(common.inputs);
    for (std::vector<std::string>* const logs : common.logs) {
      *logs = log_files(*logs);
      inputs.insert(inputs.end(), logs->begin(), logs->end());
    }
    std::vector<std::string> outputs = names_in(common.outputs);
    if (common.folder_outputs) std::erase_if(outputs, names_folder);
    if (only_helps()) outputs.clear();
    check_conditions(common);
    check_files(inputs, outputs);
    run();
  });
  return verb;
}

void only_when(Common& common, std::vector<std::string> options, std::function<bool()> holds,
               std::string why_not) {
  common.conditions.push_back({std::move(options), std::move(holds), std::move(why_not)});
}

void refuse_options(const Common& common, const std::vector<std::string>& options,
                    const std::string& why) {
  for (const std::string& option : options) {
    OAS_REQUIRE(common.verb->count(option) == 0, "{}: {}", option, why);
  }
}

void add_lenient_flag(CLI::App& verb, Common& common) {
  verb.add_flag("--lenient", common.lenient,
                "Accept dialects of .pomdp and POMDPX files, each with a warning");
}

void add_cache_flag(CLI::App& verb, bool& no_cache) {
  verb.add_flag("--no-cache", no_cache,
                "Plan the best policies anew, not those kept of earlier runs ($OAS_CACHE)");
}

void add_model_argument(CLI::App& verb, const char* name, std::string& model, const char* summary,
                        Common& common) {
  add_input(verb, name, model, summary, common)->required();
  add_lenient_flag(verb, common);
}

Pomdp load_model(const std::string& name) { return load_model(name, {}); }

Pomdp load_model(const std::string& name, const Common& common) {
  return load_read_model(name, common).model;
}

bool names_model(const std::string& name) {
  if (is_model_file(name)) return is_foreign_model(name);
  return find_problem(name) != nullptr;
}

ReadModel load_read_model(const std::string& name, const Common& common) {
  if (is_model_file(name)) {
    ReadModel read =
        while_shown(common, "reading " + name, [&] { return read_model_file(name, common); });
    for (const std::string& warning : read.warnings) warn(common, warning);
    return read;
  }
  if (const ProblemInfo* known = find_problem(name)) return {known->make(), {}};
  std::string names;
  for (const ProblemInfo& info : problems()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  detail::throw_invalid_argument(fmt::format(
      "{}: no such file, and no problem of that name (known: {}; see oas list)", name, names));
}

AnyModel load_any_model(const std::string& name, const Common& common) {
  if (is_model_file(name)) {
    const std::string text = read_text_file(name);
    if (is_continuous_model(text)) return parse_continuous_model(text, name);
  }
  return load_model(name, common);
}

void check_reward(const std::string& name, const Pomdp& model, const Common& common) {
  if (model.reward().kind() != Reward::Kind::none) return;
  OAS_REQUIRE(names_model(name),
              "{}: has no reward, so no policy is better than another; give it the key "
              "\"reward\" or \"observation_reward\"",
              name);
  warn(common, fmt::format("{}: every reward is 0, so no policy is better than another", name));
}

bool is_json_output(const std::string& path) {
  return is_written_directly(path) || format_of_ending(path) == ModelFormat::json;
}

void write_model_file(const std::string& path, const Pomdp& model, const std::string& name,
                      const Common& common) {
  if (is_json_output(path)) {
    write_model(path, model);
    return;
  }
  const Timing timing = model.has_transition() ? Timing::after : model.timing();
  const TimingConversion converted = convert_timing(model, timing);
  OAS_REQUIRE(
      converted.model.has_value(),
      "{}: only .json files hold models of timing before, and in timing after it is not the "
      "same on these states: {}; write a .json file, then oas convert {} {} --expand",
      path, converted.reason, name, path);
  const auto warnings = about_file(path, [&] { return write_any_model(path, *converted.model); });
  for (const std::string& warning : warnings) warn(common, fmt::format("{}: {}", path, warning));
}

void print(const Common& common, const std::string& text) {
  if (!common.quiet && !common.json) write_all(common.printed(), escape_control(text));
}

void say(std::string_view text) noexcept {
  try {
    const std::string plain = escape_control(text);
    std::fwrite(plain.data(), 1, plain.size(), stderr);
  } catch (const std::exception&) {
    std::fputs("oas: out of memory\n", stderr);
  }
}

void print_json(const Common& common, const nlohmann::ordered_json& document) {
  write_all(common.printed(), dump_json(document));
}

void warn(const Common& common, const std::string& text) {
  if (CommandOutput* const captured = captured_output()) {
    captured->warnings.push_back(text);
  } else if (!common.quiet) {
    say(fmt::format("warning: {}\n", text));
  }
}

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text(const std::string& indent) const {
  std::vector<std::size_t> width(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      width[c] = std::max(width[c], num_characters(row[c]));
  }
  std::string out;
  for (const auto& row : rows_) {
    out += indent + row[0] + std::string(width[0] - num_characters(row[0]), ' ');
    for (std::size_t c = 1; c < row.size(); ++c) {
      out += std::string(2 + width[c] - num_characters(row[c]), ' ') + row[c];
    }
    out += '\n';
  }
  return out;
}

std::string big_number(double value) {
  if (!(value < 1e12)) return fmt::format("{:.1e}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (auto i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) digits.insert(i, ",");
  return digits;
}

}  // namespace oas::cli
