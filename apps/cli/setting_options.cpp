#include "setting_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "oas/logs/log_options_json.hpp"

namespace oas::cli {

namespace {

std::string help_of(const SettingInfo& setting) {
  std::string help = setting.help();
  if (!help.empty()) help[0] = static_cast<char>(std::toupper(help[0]));
  return help;
}

// half_life → "--half-life".
std::string option_name(const std::string& setting) {
  std::string name = "--" + setting;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// "particle", or "not particle" where that is shorter; empty: everybody's.
std::string whose(const SharedSetting& setting, const std::vector<std::string>& members) {
  std::vector<std::string> others;
  for (const std::string& member : members) {
    const auto found = std::find(setting.by.begin(), setting.by.end(), member);
    if (found == setting.by.end()) others.push_back(member);
  }
  if (others.empty()) return {};
  if (setting.by.size() <= others.size()) return fmt::format("{}", fmt::join(setting.by, ", "));
  return fmt::format("not {}", fmt::join(others, ", "));
}

// Declares an option; `take` gets what is given, as typed.
CLI::Option* declare(CLI::App& verb, const SettingInfo& setting,
                     const std::function<void(const Setting&)>& take) {
  const std::string name = option_name(setting.name);
  if (setting.type.empty()) {
    return verb.add_flag_callback(
        name,
        [name, take] {
          take({name, "true"});
        },
        help_of(setting));
  }
  CLI::Option* option = verb.add_option_function<std::vector<std::string>>(
      name,
      [name, setting, take](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
          if (!setting.accepts(text)) {
            throw CLI::ValidationError(name, fmt::format("not {}: '{}'", setting.expected, text));
          }
          take({name, text});
        }
      },
      help_of(setting));
  option->type_name(setting.type)->expected(1);
  if (setting.repeats) option->take_all();
  if (!setting.value.empty()) option->default_str(setting.value);
  return option;
}

}  // namespace

CLI::Option* add_setting(CLI::App& verb, const SettingInfo& setting, std::vector<Setting>& given) {
  return declare(verb, setting, [&given](const Setting& one) { given.push_back(one); });
}

void add_fields(CLI::App& verb, std::shared_ptr<SettingFields> fields,
                const std::vector<std::string>& names) {
  for (const SettingInfo& setting : fields->describe()) {
    const bool wanted =
        names.empty() || std::find(names.begin(), names.end(), setting.name) != names.end();
    if (wanted) declare(verb, setting, [fields](const Setting& one) { fields->set(one); });
  }
}

void add_settings(CLI::App& verb, const std::vector<SharedSetting>& family,
                  const std::vector<std::string>& members, std::vector<Setting>& given) {
  for (const SharedSetting& setting : family) {
    CLI::Option* option = add_setting(verb, setting.info, given);
    const std::string owners = whose(setting, members);
    if (owners.empty()) continue;
    option->description(fmt::format("{} [{}]", option->get_description(), owners));
  }
}

void add_log_options(CLI::App& verb, bool known_states, std::vector<Setting>& given, Common& common,
                     std::vector<Setting>* others) {
  LogOptions options;
  SettingFields fields;
  options.visit(fields);
  if (known_states) options.visit_known_states(fields);
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
      "File (.json) with these options, in place of typing them with every command"));
}

std::vector<std::string> log_option_names(bool known_states) {
  LogOptions options;
  SettingFields fields;
  options.visit(fields);
  if (known_states) options.visit_known_states(fields);
  std::vector<std::string> names = {"--log-options"};
  for (const SettingInfo& setting : fields.describe()) names.push_back(option_name(setting.name));
  return names;
}

LogOptions log_options(const std::vector<Setting>& given) {
  LogOptions options;
  SettingFields fields;
  options.visit(fields);
  options.visit_known_states(fields);
  fields.apply(given, "the reader of logs");
  options.validate();
  return options;
}

std::string with_option_names(const std::string& message) {
  LogOptions options;
  SettingFields fields;
  options.visit(fields);
  options.visit_known_states(fields);
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
