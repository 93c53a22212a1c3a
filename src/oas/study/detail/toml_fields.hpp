#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/study/kinds.hpp"
#include "oas/study/task_settings.hpp"

namespace oas::detail {

/// Letters, digits, '_', '-' and '.', 1 to 64 of them, no '.' first: safe as the name of a file.
[[nodiscard]] bool is_name(std::string_view text);

/// Takes fields out of a TOML document; every error is a ParseError with file, line and column.
class TomlFields {
 protected:
  explicit TomlFields(const std::string& file) : file_(file) {}

  [[nodiscard]] toml::table parse(std::string_view text) const;
  /// Throws at a key of very many parts, for which the parser's stack would not suffice.
  void check_depth(std::string_view text) const;

  [[noreturn]] void fail(const toml::source_position& place, std::string_view message) const;
  [[noreturn]] void fail(const toml::node* node, std::string_view message) const;

  /// Throws at the first key that is not among those known.
  void require_keys(const toml::table& table, std::string_view what,
                    std::initializer_list<std::string_view> known) const;

  /// Null where there is no such key.
  [[nodiscard]] const toml::table* table_of(const toml::table& parent, std::string_view key) const;
  /// Without fallback the key must be there.
  [[nodiscard]] std::string text_of(const toml::table& table, std::string_view key,
                                    std::optional<std::string> fallback = std::nullopt) const;
  [[nodiscard]] bool flag_of(const toml::table& table, std::string_view key, bool fallback) const;
  [[nodiscard]] std::int64_t integer_of(const toml::table& table, std::string_view key,
                                        std::int64_t fallback, std::int64_t least,
                                        std::int64_t most) const;
  [[nodiscard]] std::optional<double> number_of(const toml::table& table,
                                                std::string_view key) const;
  [[nodiscard]] std::vector<std::string> list_of(const toml::node& node,
                                                 std::string_view key) const;
  /// Any scalar.
  [[nodiscard]] SettingValue scalar_of(const toml::node& node, std::string_view key) const;

  /// The kind of tasks that the key `kind` names.
  [[nodiscard]] const TaskKind& kind_of(const toml::table& table) const;

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  const std::string& file_;
};

}  // namespace oas::detail
