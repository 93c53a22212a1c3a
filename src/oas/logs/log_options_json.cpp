#include "oas/logs/log_options_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/logs/log_options.hpp"

namespace oas {

namespace {

constexpr std::string_view kOptionsFormat = "oas-log-options/1";

std::string joined(const JsonView& view, const char* by) {
  return view.is_array() ? fmt::format("{}", fmt::join(view.as_strings(), by)) : view.as_string();
}

// {"action": "cmd", "observation": ["vib", "temp"]} as --columns has it.
std::string columns_text(const JsonView& view) {
  std::vector<std::string> parts;
  for (const auto& [part, unused] : view.json().items()) {
    parts.push_back(fmt::format("{}={}", part, joined(view.at(part), "+")));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

// Options whose value is a list, on the command line with commas, as NA,NULL.
bool takes_several(std::string_view name) { return name == "missing" || name == "step_classes"; }

std::string value_text(const JsonView& view, const SettingInfo& setting) {
  if (setting.name == "columns" && view.json().is_object()) return columns_text(view);
  if (view.is_array() && takes_several(setting.name)) return joined(view, ",");
  if (setting.type.empty()) return view.as_bool() ? "true" : "false";
  return view.is_number() ? fmt::format("{}", view.as_double()) : view.as_string();
}

}  // namespace

std::vector<Setting> parse_log_options(std::string_view text, const std::string& file) {
  LogOptions options;
  SettingFields fields;
  options.visit(fields);
  options.visit_known_states(fields);
  const std::vector<SettingInfo> known = fields.describe();
  std::vector<std::string_view> keys = {"format"};
  for (const SettingInfo& one : known) keys.push_back(one.name);
  const nlohmann::ordered_json document = parse_json(text, file);
  const JsonView root(document, file);
  root.require_keys(keys);
  if (root.at("format").as_string() != kOptionsFormat) {
    root.at("format").fail(fmt::format("expected \"{}\"", kOptionsFormat));
  }
  std::vector<Setting> settings;
  for (const SettingInfo& one : known) {
    if (!root.has(one.name)) continue;
    const std::string value = value_text(root.at(one.name), one);
    if (!one.accepts(value)) root.at(one.name).fail(fmt::format("not {}", one.expected));
    settings.push_back({one.name, value});
    fields.set(settings.back());
  }
  try {
    options.validate();
  } catch (const InvalidArgument& error) {
    root.fail(error.what());
  }
  return settings;
}

std::vector<Setting> read_log_options(const std::string& path) {
  return parse_log_options(read_text_file(path), path);
}

}  // namespace oas
