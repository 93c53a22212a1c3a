#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"

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

}  // namespace

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

}  // namespace oas::cli
