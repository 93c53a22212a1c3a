#include "oas/study/detail/toml_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr int kMostLevels = 256;  // the parser goes down one call a level

// Parts of the key or header at the beginning of a line: its dots outside quotes, and one.
int key_parts(std::string_view line) {
  int parts = 1;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=' || c == '#') {
      break;
    } else {
      parts += c == '.';
    }
  }
  return parts;
}

// A name, or two with a colon between: "module:function".
bool is_reference(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == std::string_view::npos
             ? is_name(text)
             : is_name(text.substr(0, colon)) && is_name(text.substr(colon + 1));
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

void TomlFields::check_depth(std::string_view text) const {
  toml::source_index line = 0;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    const int parts = key_parts(text.substr(first, end - first));
    first = end + 1;
    ++line;
    if (parts > kMostLevels) {
      fail(toml::source_position{line, 1},
           fmt::format("a key of {} parts; {} are the most", parts, kMostLevels));
    }
  }
}

toml::table TomlFields::parse(std::string_view text) const {
  check_depth(text);
  try {
    return toml::parse(text, file_);
  } catch (const toml::parse_error& error) {
    throw ParseError(file_, error.source().begin.line, error.source().begin.column,
                     error.description());
  }
}

void TomlFields::fail(const toml::source_position& place, std::string_view message) const {
  throw ParseError(file_, place.line, place.column, message);
}
void TomlFields::fail(const toml::node* node, std::string_view message) const {
  fail(node == nullptr ? toml::source_position{1, 1} : node->source().begin, message);
}

void TomlFields::require_keys(const toml::table& table, std::string_view what,
                              std::initializer_list<std::string_view> known) const {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    fail(key.source().begin, fmt::format("unknown key '{}' in {}; known are {}", key.str(), what,
                                         fmt::join(known, ", ")));
  }
}

const toml::table* TomlFields::table_of(const toml::table& parent, std::string_view key) const {
  const toml::node* node = parent.get(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) fail(node, fmt::format("{} must be a table", key));
  return node->as_table();
}

std::string TomlFields::text_of(const toml::table& table, std::string_view key,
                                std::optional<std::string> fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    if (!fallback) fail(&table, fmt::format("'{}' is missing", key));
    return *fallback;
  }
  if (!node->is_string()) fail(node, fmt::format("{} must be a text", key));
  return node->as_string()->get();
}

bool TomlFields::flag_of(const toml::table& table, std::string_view key, bool fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) fail(node, fmt::format("{} must be true or false", key));
  return node->as_boolean()->get();
}

std::int64_t TomlFields::integer_of(const toml::table& table, std::string_view key,
                                    std::int64_t fallback, std::int64_t least,
                                    std::int64_t most) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < least || *value > most) {
    fail(node, fmt::format("{} must be an integer from {} to {}", key, least, most));
  }
  return *value;
}

std::optional<double> TomlFields::number_of(const toml::table& table, std::string_view key) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_number()) fail(node, fmt::format("{} must be a number", key));
  const double number = node->value<double>().value();
  if (!std::isfinite(number)) fail(node, fmt::format("{} must be finite", key));
  return number;
}

std::vector<std::string> TomlFields::list_of(const toml::node& node, std::string_view key) const {
  std::vector<std::string> items;
  if (!node.is_array()) fail(&node, fmt::format("{} must be a list of names", key));
  for (const toml::node& item : *node.as_array()) {
    if (!item.is_string() || !is_reference(item.as_string()->get())) {
      fail(&item, fmt::format("{} must be a list of names", key));
    }
    items.push_back(item.as_string()->get());
  }
  if (items.empty()) fail(&node, fmt::format("{} is an empty list", key));
  return items;
}

SettingValue TomlFields::scalar_of(const toml::node& node, std::string_view key) const {
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto integer = node.value_exact<std::int64_t>()) return *integer;
  if (const auto number = node.value_exact<double>(); number && std::isfinite(*number)) {
    return *number;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  fail(&node, fmt::format("{} must be a finite number, a text, true or false", key));
}

const TaskKind& TomlFields::kind_of(const toml::table& table) const {
  const std::string name = text_of(table, "kind");
  try {
    return find_task_kind(name);
  } catch (const InvalidArgument& error) {
    fail(table.get("kind"), error.what());
  }
}

}  // namespace oas::detail
