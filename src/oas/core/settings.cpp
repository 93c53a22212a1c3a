#include "oas/core/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

template <class Number>
Number read_number(const std::string& name, const std::string& text, const char* expected) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  OAS_REQUIRE(error == std::errc() && stop == end && !text.empty(), "{} is '{}'; {} is expected",
              name, text, expected);
  if constexpr (std::is_floating_point_v<Number>) {
    OAS_REQUIRE(std::isfinite(value), "{} is '{}'; {} is expected", name, text, expected);
  }
  return value;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  OAS_REQUIRE(equals != std::string_view::npos && equals > 0,
              "'{}' is no setting; name=value is expected", text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void SettingFields::operator()(std::string_view name, bool& field, std::string_view summary) {
  add(name, field ? "true" : "false", summary,
      [name = std::string(name), &field](const std::string& text) {
        OAS_REQUIRE(text == "true" || text == "false", "{} is '{}'; true or false is expected",
                    name, text);
        field = text == "true";
      });
}

void SettingFields::operator()(std::string_view name, int& field, std::string_view summary) {
  add(name, fmt::format("{}", field), summary,
      [name = std::string(name), &field](const std::string& text) {
        field = read_number<int>(name, text, "a whole number");
      });
}

void SettingFields::operator()(std::string_view name, std::int64_t& field,
                               std::string_view summary) {
  add(name, fmt::format("{}", field), summary,
      [name = std::string(name), &field](const std::string& text) {
        field = read_number<std::int64_t>(name, text, "a whole number");
      });
}

void SettingFields::operator()(std::string_view name, std::uint64_t& field,
                               std::string_view summary) {
  add(name, fmt::format("{}", field), summary,
      [name = std::string(name), &field](const std::string& text) {
        field = read_number<std::uint64_t>(name, text, "a whole number from 0 on");
      });
}

void SettingFields::operator()(std::string_view name, double& field, std::string_view summary) {
  add(name, fmt::format("{}", field), summary,
      [name = std::string(name), &field](const std::string& text) {
        field = read_number<double>(name, text, "a number");
      });
}

void SettingFields::operator()(std::string_view name, std::optional<double>& field,
                               std::string_view summary) {
  add(name, field ? fmt::format("{}", *field) : std::string(), summary,
      [name = std::string(name), &field](const std::string& text) {
        field = read_number<double>(name, text, "a number");
      });
}

void SettingFields::add(std::string_view name, std::string shown, std::string_view summary,
                        std::function<void(const std::string&)> set) {
  OAS_ASSERT(!knows(name));
  fields_.push_back({{std::string(name), std::move(shown), std::string(summary)}, std::move(set)});
}

std::size_t SettingFields::position(const std::string& name, const std::string& text,
                                    const std::vector<std::string>& known) {
  const auto found = std::find(known.begin(), known.end(), text);
  OAS_REQUIRE(found != known.end(), "{} is '{}'; known are {}", name, text, join(known));
  return static_cast<std::size_t>(found - known.begin());
}

bool SettingFields::knows(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return field.info.name == name; });
}

bool SettingFields::set(const Setting& setting) const {
  for (const Field& field : fields_) {
    if (field.info.name != setting.name) continue;
    field.set(setting.value);
    return true;
  }
  return false;
}

std::vector<SettingInfo> SettingFields::describe() const {
  std::vector<SettingInfo> list;
  for (const Field& field : fields_) list.push_back(field.info);
  return list;
}

void throw_unknown_setting(const Setting& setting, std::string_view whose,
                           const std::vector<SettingInfo>& known) {
  std::vector<std::string> names;
  for (const SettingInfo& info : known) names.push_back(info.name);
  throw InvalidArgument(fmt::format("{} has no setting '{}'; {}", whose, setting.name,
                                    names.empty() ? "it has none" : "it has " + join(names)));
}

}  // namespace oas
