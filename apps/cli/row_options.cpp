#include <CLI/CLI.hpp>
#include <algorithm>

#include "oas/logs/log_options_json.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

// All options of logs; `known_states`: those that say how states are told, too.
SettingFields fields_of(LogOptions& options, bool known_states) {
  SettingFields fields;
  options.visit(fields);
  if (known_states) options.visit_known_states(fields);
  return fields;
}

}  // namespace

void add_log_options(CLI::App& verb, bool known_states, std::vector<Setting>& given, Common& common,
                     std::vector<Setting>* others) {
  LogOptions options;
  const SettingFields fields = fields_of(options, known_states);
  std::vector<std::string> names;
  for (const SettingInfo& setting : fields.describe()) {
    add_setting(verb, setting, given);
    names.push_back(setting.name);
  }
  common.inputs.push_back(verb.add_option_function<std::string>(
      "--log-options",
      [names, others, &given](const std::string& file) {
        // What is typed comes behind, and counts.
        for (const Setting& one : read_log_options(file)) {
          const bool known = std::find(names.begin(), names.end(), one.name) != names.end();
          if (known) given.insert(given.begin(), one);
          if (!known && others != nullptr) others->insert(others->begin(), one);
        }
      },
      "File (.json) with these options, so that you need not type them"));
}

std::vector<std::string> log_option_names(bool known_states) {
  LogOptions options;
  const SettingFields fields = fields_of(options, known_states);
  std::vector<std::string> names = {"--log-options"};
  for (const SettingInfo& setting : fields.describe()) names.push_back(option_name(setting.name));
  return names;
}

LogOptions log_options(const std::vector<Setting>& given) {
  LogOptions options;
  const SettingFields fields = fields_of(options, true);
  fields.apply(given, "the reader of logs");
  options.validate();
  return options;
}

std::string with_option_names(const std::string& message) {
  LogOptions options;
  const SettingFields fields = fields_of(options, true);
  for (const SettingInfo& setting : fields.describe()) {
    const std::string named = setting.name + ": ";
    const bool leads = message.starts_with(named);
    const std::size_t at = leads ? 0 : message.find(": " + named);
    if (at == std::string::npos) continue;
    const std::string option = option_name(setting.name);
    const std::size_t name = leads ? 0 : at + 2;
    return message.substr(0, name) + option + message.substr(name + setting.name.size());
  }
  return message;
}

AnyModel load_row_model(const std::string& name, const std::vector<Setting>& given,
                        const Common& common) {
  const AnyModel model = load_any_model(name, common);
  const std::string rows = log_options(given).rows;
  if (rows.empty()) return model;
  return about_file(name, [&] { return with_rows(model, parse_rows(rows)); });
}

}  // namespace oas::cli
