#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/logs/log_options.hpp"

/// Options of a verb that are settings of the library: names, defaults, ranges and help come from
/// there, and the library says which of them it does not look at.
namespace oas::cli {

/// half_life → "--half-life".
[[nodiscard]] std::string option_name(const std::string& setting);

/// Declares "--half-life" for the setting half_life. What is given goes to `given`, as typed.
/// Throws CLI::ValidationError that names the option, what is expected and the text.
CLI::Option* add_setting(CLI::App& verb, const SettingInfo& setting, std::vector<Setting>& given);

/// Declares fields that a struct shows as options that set them, all or these, in the order of the
/// struct; which has no conditions on them (SettingFields::when) and stays where
/// it is as long as the verb.
/// A field may be an option of another name. Gives the options.
struct FieldOption {
  FieldOption(const char* of_field) : field(of_field), option(of_field) {}  // NOLINT: a name
  FieldOption(const char* of_field, const char* as) : field(of_field), option(as) {}

  std::string field;
  std::string option;
};
std::vector<CLI::Option*> add_fields(CLI::App& verb, std::shared_ptr<SettingFields> fields,
                                     const std::vector<FieldOption>& which);
template <class Options>
std::vector<CLI::Option*> add_fields(CLI::App& verb, Options& options,
                                     const std::vector<FieldOption>& which = {}) {
  auto fields = std::make_shared<SettingFields>();
  options.visit(*fields);
  return add_fields(verb, std::move(fields), which);
}

/// The same for each setting of a family (estimators, planners) with these members; the help says
/// whose it is where not all look at it.
void add_settings(CLI::App& verb, const std::vector<SharedSetting>& family,
                  const std::vector<std::string>& members, std::vector<Setting>& given);

/// Declares how the rows of logs stand in their files, the same for every verb that reads logs;
/// log_options() makes one value of what was given, here or in the file that --log-options names
/// (what is given here counts; of the file what is no option here goes to `others`, or is left
/// out). `known_states`: the verb looks at them, and no other setting says so.
void add_log_options(CLI::App& verb, bool known_states, std::vector<Setting>& given, Common& common,
                     std::vector<Setting>* others = nullptr);
[[nodiscard]] LogOptions log_options(const std::vector<Setting>& given);
/// Their names, that of the file among them: "--columns".
[[nodiscard]] std::vector<std::string> log_option_names(bool known_states);
/// A message of the library about one of these options with its name as it is typed: "gaps: …" is
/// about --gaps.
[[nodiscard]] std::string with_option_names(const std::string& message);
/// A model of that name, whose rows are written as --rows among these says, or else as it says.
[[nodiscard]] AnyModel load_row_model(const std::string& name, const std::vector<Setting>& given,
                                      const Common& common);

}  // namespace oas::cli
