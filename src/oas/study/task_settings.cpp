#include "oas/study/task_settings.hpp"

#include <fmt/format.h>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

template <class T>
const T& held(const std::string& name, const SettingValue& value, const char* wanted) {
  const T* found = std::get_if<T>(&value);
  OAS_REQUIRE(found != nullptr, "{} is {}; it must be {}", name, to_text(value), wanted);
  return *found;
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : "+") + item;
  return text;
}

}  // namespace

std::string to_text(const SettingValue& value) {
  struct Visitor {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& items) const { return joined(items); }
  };
  return std::visit(Visitor{}, value);
}

double TaskSettings::number(const std::string& name, double fallback) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
    return static_cast<double>(*integer);
  }
  return held<double>(name, found->second, "a number");
}

std::int64_t TaskSettings::integer(const std::string& name, std::int64_t fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? fallback : held<std::int64_t>(name, found->second, "an integer");
}

std::string TaskSettings::text(const std::string& name, const std::string& fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? fallback : held<std::string>(name, found->second, "a text");
}

std::vector<std::string> TaskSettings::list(const std::string& name,
                                            std::vector<std::string> fallback) const {
  const auto found = values_.find(name);
  return found == values_.end()
             ? std::move(fallback)
             : held<std::vector<std::string>>(name, found->second, "a list of names");
}

}  // namespace oas
