#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace oas {

/// One value of a study file.
using SettingValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// The value as people write it: shortest digits that read back, lists joined by '+'.
[[nodiscard]] std::string to_text(const SettingValue& value);

/// What a setting may hold.
enum class SettingType {
  integer,
  number,
  text,
  number_or_text,  ///< a number, or a rule such as "1/(10A)"
  list,            ///< names
};

/// One row of a table of settings: what the reader of study files accepts and the documents show.
struct TaskSetting {
  std::string_view name;
  SettingType type;
  std::string_view summary;
};

/// The settings of one task, by name; sorted, so that equal settings have equal text.
class TaskSettings {
 public:
  void set(const std::string& name, SettingValue value) { values_[name] = std::move(value); }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }

  /// The value, or `fallback` where it is not set. Throws InvalidArgument naming the setting when
  /// it holds another type.
  [[nodiscard]] double number(const std::string& name, double fallback) const;
  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback) const;
  [[nodiscard]] std::vector<std::string> list(const std::string& name,
                                              std::vector<std::string> fallback) const;

  [[nodiscard]] const std::map<std::string, SettingValue>& values() const { return values_; }

 private:
  std::map<std::string, SettingValue> values_;
};

}  // namespace oas
