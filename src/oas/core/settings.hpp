#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oas {

/// An option as people write it, on a command line or in a study file: "tau1=20000".
struct Setting {
  std::string name;
  std::string value;

  friend bool operator==(const Setting&, const Setting&) = default;
};

/// Splits "name=value". Throws InvalidArgument when there is no name or no '='.
[[nodiscard]] Setting parse_setting(std::string_view text);

/// One option of an options struct, for people.
struct SettingInfo {
  std::string name;
  std::string value;    ///< the default, as text; empty: computed from the model
  std::string summary;  ///< meaning, unit, range
};

/// The fields of an options struct by name. The struct lists them once:
///
///     template <class Fields> void visit(Fields& fields) {
///       fields("tau1", tau1, "steps of exploration per action and phase");
///     }
///
/// Keeps pointers to the fields: the struct must outlive it and stay where it is.
class SettingFields {
 public:
  void operator()(std::string_view name, bool& field, std::string_view summary);
  void operator()(std::string_view name, int& field, std::string_view summary);
  void operator()(std::string_view name, std::int64_t& field, std::string_view summary);
  void operator()(std::string_view name, std::uint64_t& field, std::string_view summary);
  void operator()(std::string_view name, double& field, std::string_view summary);
  void operator()(std::string_view name, std::optional<double>& field, std::string_view summary);

  /// An enumeration whose values 0, 1, … have these names.
  template <class Enum>
  void choice(std::string_view name, Enum& field, std::initializer_list<std::string_view> names,
              std::string_view summary) {
    const std::vector<std::string> known(names.begin(), names.end());
    add(name, known[static_cast<std::size_t>(field)], summary,
        [name = std::string(name), known, &field](const std::string& text) {
          field = static_cast<Enum>(position(name, text, known));
        });
  }

  [[nodiscard]] bool knows(std::string_view name) const;

  /// Sets the field; false when there is none of that name. Throws InvalidArgument naming the
  /// setting and the text when it cannot be read as a value of the field's type.
  bool set(const Setting& setting) const;

  [[nodiscard]] std::vector<SettingInfo> describe() const;

 private:
  struct Field {
    SettingInfo info;
    std::function<void(const std::string&)> set;
  };
  void add(std::string_view name, std::string shown, std::string_view summary,
           std::function<void(const std::string&)> set);
  static std::size_t position(const std::string& name, const std::string& text,
                              const std::vector<std::string>& known);

  std::vector<Field> fields_;
};

[[noreturn]] void throw_unknown_setting(const Setting& setting, std::string_view whose,
                                        const std::vector<SettingInfo>& known);

/// Options with these settings. Throws InvalidArgument, listing the names, on an unknown one.
template <class Options>
[[nodiscard]] Options options_from(std::span<const Setting> settings, std::string_view whose) {
  Options options;
  SettingFields fields;
  options.visit(fields);
  for (const Setting& setting : settings) {
    if (!fields.set(setting)) throw_unknown_setting(setting, whose, fields.describe());
  }
  return options;
}

/// The options of a struct with their defaults.
template <class Options>
[[nodiscard]] std::vector<SettingInfo> describe_options() {
  Options options;
  SettingFields fields;
  options.visit(fields);
  return fields.describe();
}

}  // namespace oas
