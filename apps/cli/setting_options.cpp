#include "setting_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace oas::cli {

namespace {

std::string help_of(const SettingInfo& setting) {
  std::string help = setting.help();
  if (!help.empty()) help[0] = static_cast<char>(std::toupper(help[0]));
  return help;
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

// "not a number above 0", "neither 0 nor a number from 1 to 9".
std::string not_expected(const std::string& expected) {
  const std::string zero_or = "0 or ";
  return expected.starts_with(zero_or) ? "neither 0 nor " + expected.substr(zero_or.size())
                                       : "not " + expected;
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
            throw CLI::ValidationError(
                name, fmt::format("{}: '{}'", not_expected(setting.expected), text));
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

std::string option_name(const std::string& setting) {
  std::string name = "--" + setting;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

CLI::Option* add_setting(CLI::App& verb, const SettingInfo& setting, std::vector<Setting>& given) {
  return declare(verb, setting, [&given](const Setting& one) { given.push_back(one); });
}

std::vector<CLI::Option*> add_fields(CLI::App& verb, std::shared_ptr<SettingFields> fields,
                                     const std::vector<FieldOption>& which) {
  std::vector<CLI::Option*> options;
  for (SettingInfo& setting : fields->describe()) {
    const std::string field = setting.name;
    const auto found = std::find_if(which.begin(), which.end(),
                                    [&](const FieldOption& one) { return one.field == field; });
    if (!which.empty() && found == which.end()) continue;
    if (found != which.end()) setting.name = found->option;
    options.push_back(declare(verb, setting, [fields, field](const Setting& one) {
      fields->set({field, one.value});
    }));
  }
  return options;
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

}  // namespace oas::cli
