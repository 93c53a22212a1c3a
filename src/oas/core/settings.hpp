#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// The values that a number may take, both ends included; see kAboveZero for open ones.
template <class Number>
struct Between {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
  bool or_zero = false;  ///< 0 may stand outside; the summary says what it means

  [[nodiscard]] bool holds(Number value) const {
    return (value >= least && value <= most) || (or_zero && value == Number{});
  }
};
inline constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();
inline constexpr double kAboveOne = 1.0 + std::numeric_limits<double>::epsilon();
inline constexpr double kBelowOne = 1.0 - std::numeric_limits<double>::epsilon() / 2.0;

/// One option of an options struct, for people.
struct SettingInfo {
  std::string name;
  std::string value;     ///< the default, as text; empty: none, or computed from the model
  std::string summary;   ///< meaning and unit
  std::string range;     ///< "at least 2"; empty: all values of its type, or choices
  std::string type;      ///< INT, UINT, FLOAT or TEXT; empty: a switch
  std::string expected;  ///< "a whole number between 2 and 9"
  bool repeats = false;  ///< may be given several times
  std::function<bool(const std::string&)> accepts;

  /// The summary with the range.
  [[nodiscard]] std::string help() const;
};

/// A setting, and those of a family (estimators, planners) that look at it.
struct SharedSetting {
  SettingInfo info;
  std::vector<std::string> by;
};

/// The fields of an options struct by name. The struct lists them once, and what is told about them
/// on a command line, in a study file or in a document comes from there:
///
///     template <class Fields> void visit(Fields& fields) {
///       fields("tau1", tau1, {3}, "steps of exploration per action and phase");
///     }
///
/// Keeps pointers to the fields: the struct must outlive it and stay where it is.
class SettingFields {
 public:
  using Names = std::initializer_list<std::string_view>;

  void operator()(std::string_view name, bool& field, std::string_view summary);
  void operator()(std::string_view name, int& field, Between<int> range, std::string_view summary);
  void operator()(std::string_view name, std::int64_t& field, Between<std::int64_t> range,
                  std::string_view summary);
  void operator()(std::string_view name, std::uint64_t& field, Between<std::uint64_t> range,
                  std::string_view summary);
  void operator()(std::string_view name, double& field, Between<double> range,
                  std::string_view summary);
  void operator()(std::string_view name, std::optional<double>& field, Between<double> range,
                  std::string_view summary);
  void operator()(std::string_view name, std::optional<int>& field, Between<int> range,
                  std::string_view summary);
  /// Any value of the type.
  template <class Number>
  void operator()(std::string_view name, Number& field, std::string_view summary) {
    (*this)(name, field, {}, summary);
  }
  /// Any text; what it says is checked by whoever looks at it.
  void text(std::string_view name, std::string& field, std::string_view summary);
  /// Words that are collected: the setting may be given several times.
  void words(std::string_view name, std::vector<std::string>& field, std::string_view summary);
  /// Bytes, written in units of 2^20.
  void megabytes(std::string_view name, std::size_t& field, std::string_view summary);

  /// An enumeration whose values 0, 1, … have these names. One without a name cannot be chosen.
  template <class Enum>
  void choice(std::string_view name, Enum& field, Names names, std::string_view summary) {
    const std::vector<std::string> known(names.begin(), names.end());
    add_choice(
        name, known, summary, [&field, known] { return known[static_cast<std::size_t>(field)]; },
        [&field](std::size_t chosen) { field = static_cast<Enum>(chosen); });
  }
  /// A field that holds the name itself.
  void choice(std::string_view name, std::string& field, Names names, std::string_view summary);

  /// These settings are looked at only where `condition` holds once all are set. `otherwise` says
  /// why not: "half_life: otherwise".
  void when(Names names, const std::function<bool()>& condition, std::string_view otherwise);

  [[nodiscard]] bool knows(std::string_view name) const { return find(name) != nullptr; }

  /// Sets the field; false when there is none of that name. Throws InvalidArgument naming the
  /// setting, the text and what is expected when it is no value of the field. A name may be spelt
  /// as on a command line: --half-life is half_life.
  bool set(const Setting& setting) const;  // NOLINT(modernize-use-nodiscard)
  /// Sets what these say. Throws InvalidArgument on one that `whose` does not look at, naming those
  /// of its family that do: "--particles: oas-ml does not use it; particle does".
  void apply(std::span<const Setting> settings, std::string_view whose,
             const std::vector<SharedSetting>& family = {}) const;

  /// Throws InvalidArgument where a condition of when() does not hold for one of them.
  void require_looked_at(std::span<const Setting> settings) const;

  /// Throws InvalidArgument naming the first field whose value is out of its range.
  void check() const;

  [[nodiscard]] std::vector<SettingInfo> describe() const;

 private:
  struct Field {
    SettingInfo info;
    std::function<void(const std::string&)> set;
    std::function<std::string()> show;
    std::function<bool()> in_range;
    std::vector<std::pair<std::function<bool()>, std::string>> conditions;
  };
  template <class Number, class Target>
  void add_number(std::string_view name, Target& field, Between<Number> range,
                  std::string_view summary);
  void add_choice(std::string_view name, const std::vector<std::string>& known,
                  std::string_view summary, const std::function<std::string()>& show,
                  const std::function<void(std::size_t)>& choose);
  Field& add(SettingInfo info, std::function<std::string()> show,
             std::function<void(const std::string&)> set);
  [[nodiscard]] const Field* find(std::string_view name) const;
  [[noreturn]] void throw_not_looked_at(const std::string& setting, std::string_view whose,
                                        const std::vector<SharedSetting>& family) const;

  std::vector<Field> fields_;
};

/// Options with these settings. Throws InvalidArgument, listing the names, on an unknown one.
template <class Options>
[[nodiscard]] Options options_from(std::span<const Setting> settings, std::string_view whose) {
  Options options;
  SettingFields fields;
  options.visit(fields);
  fields.apply(settings, whose);
  return options;
}

/// Throws InvalidArgument naming the first field whose value is out of its range.
template <class Options>
void check_ranges(Options options) {
  SettingFields fields;
  options.visit(fields);
  fields.check();
}

/// The options of a struct with their defaults.
template <class Options>
[[nodiscard]] std::vector<SettingInfo> describe_options() {
  Options options;
  SettingFields fields;
  options.visit(fields);
  return fields.describe();
}

/// Adds what `member` looks at to the settings of its family.
void add_settings(std::string_view member, const std::vector<SettingInfo>& settings,
                  std::vector<SharedSetting>& family);

}  // namespace oas
