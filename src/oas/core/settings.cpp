#include "oas/core/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// None: the text is no number of the range.
template <class Number>
std::optional<Number> read_number(const std::string& text, const Between<Number>& range) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return range.holds(value) ? std::optional(value) : std::nullopt;
}

// 1e15 rather than fifteen zeros to be counted.
template <class Number>
std::string end_text(Number end) {
  if constexpr (std::is_floating_point_v<Number>) {
    constexpr double kLong = 1e9;
    if (std::abs(end) >= kLong) {
      const int exponent = static_cast<int>(std::floor(std::log10(std::abs(end))));
      return fmt::format("{:g}e{}", end / std::pow(10.0, exponent), exponent);
    }
  }
  return fmt::format("{}", end);
}

// "at least 2", "2 to 9", "above 0 and below 1"; empty where all numbers are allowed.
template <class Number>
std::string range_text(const Between<Number>& range) {
  using Limits = std::numeric_limits<Number>;
  const bool above_zero = !Limits::is_integer && range.least == Number(kAboveZero);
  const bool above_one = !Limits::is_integer && range.least == Number(kAboveOne);
  const bool open_above = !Limits::is_integer && range.most == Number(kBelowOne);
  const bool below = range.least > (std::is_unsigned_v<Number> ? Number{0} : Limits::lowest());
  const bool above = range.most < Limits::max();
  if (below && above && !above_zero && !above_one && !open_above) {
    return fmt::format("{} to {}", end_text(range.least), end_text(range.most));
  }
  const std::string least = above_zero  ? "above 0"
                            : above_one ? "above 1"
                                        : "at least " + end_text(range.least);
  const std::string most = open_above ? "below 1" : "at most " + end_text(range.most);
  return (below ? least : "") + (below && above ? " and " : "") + (above ? most : "");
}

// Whole numbers have ends, which help to see what is wrong with a long one.
template <class Number>
std::string expected_number(const Between<Number>& range) {
  const std::string zero = range.or_zero ? "0 or " : "";
  const std::string ends = range_text(range);
  if constexpr (std::is_integral_v<Number>) {
    if (ends.empty() && std::is_signed_v<Number>) return "a whole number";
    return fmt::format("{}a whole number between {} and {}", zero, range.least, range.most);
  }
  const char* const joined = ends.empty()              ? ""
                             : ends.starts_with("at ") ? " of "
                             : ends.starts_with('a')   ? " "
                                                       : " from ";
  return fmt::format("{}a number{}{}", zero, joined, ends);
}

template <class Number>
constexpr const char* kTypeName = std::is_floating_point_v<Number> ? "FLOAT"
                                  : std::is_unsigned_v<Number>     ? "UINT"
                                                                   : "INT";

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// --half-life → half_life.
std::string field_name(std::string_view spelt) {
  std::string name(spelt.substr(std::min(spelt.find_first_not_of('-'), spelt.size())));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

Setting parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  OAS_REQUIRE(equals != std::string_view::npos && equals > 0, "'{}' is not of the form name=value",
              text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string SettingInfo::help() const {
  return range.empty() ? summary : fmt::format("{} ({})", summary, range);
}

template <class Number, class Target>
void SettingFields::add_number(std::string_view name, Target& field, Between<Number> range,
                               std::string_view summary) {
  SettingInfo info;
  info.name = name;
  info.summary = summary;
  info.range = range_text(range);
  info.type = kTypeName<Number>;
  info.expected = expected_number(range);
  info.accepts = [range](const std::string& text) { return read_number(text, range).has_value(); };
  const auto value = [&field]() -> std::optional<Number> { return field; };
  Field& added = add(
      std::move(info), [value] { return value() ? fmt::format("{}", *value()) : std::string(); },
      [&field, range](const std::string& text) { field = *read_number(text, range); });
  added.in_range = [value, range] { return !value() || range.holds(*value()); };
  // A 0 out of the range means that there is no value.
  if (!added.in_range() && *value() == Number{}) added.info.value.clear();
}

void SettingFields::operator()(std::string_view name, bool& field, std::string_view summary) {
  SettingInfo info;
  info.name = name;
  info.summary = summary;
  info.expected = "true or false";
  info.accepts = [](const std::string& text) { return text == "true" || text == "false"; };
  add(
      std::move(info), [&field] { return field ? "true" : "false"; },
      [&field](const std::string& text) { field = text == "true"; });
}

void SettingFields::operator()(std::string_view name, int& field, Between<int> range,
                               std::string_view summary) {
  add_number(name, field, range, summary);
}

void SettingFields::operator()(std::string_view name, std::int64_t& field,
                               Between<std::int64_t> range, std::string_view summary) {
  add_number(name, field, range, summary);
}

void SettingFields::operator()(std::string_view name, std::uint64_t& field,
                               Between<std::uint64_t> range, std::string_view summary) {
  add_number(name, field, range, summary);
}

void SettingFields::operator()(std::string_view name, double& field, Between<double> range,
                               std::string_view summary) {
  add_number(name, field, range, summary);
}

void SettingFields::operator()(std::string_view name, std::optional<double>& field,
                               Between<double> range, std::string_view summary) {
  add_number(name, field, range, summary);
}

void SettingFields::operator()(std::string_view name, std::optional<int>& field, Between<int> range,
                               std::string_view summary) {
  add_number(name, field, range, summary);
}

void SettingFields::text(std::string_view name, std::string& field, std::string_view summary) {
  SettingInfo info;
  info.name = name;
  info.summary = summary;
  info.type = "TEXT";
  info.accepts = [](const std::string&) { return true; };
  add(
      std::move(info), [&field] { return field; },
      [&field](const std::string& text) { field = text; });
}

void SettingFields::words(std::string_view name, std::vector<std::string>& field,
                          std::string_view summary) {
  SettingInfo info;
  info.name = name;
  info.summary = summary;
  info.type = "TEXT";
  info.repeats = true;
  info.accepts = [](const std::string&) { return true; };
  add(
      std::move(info), [&field] { return join(field); },
      [&field](const std::string& text) { field.push_back(text); });
}

void SettingFields::megabytes(std::string_view name, std::size_t& field, std::string_view summary) {
  constexpr double kUnit = 1048576.0;
  constexpr Between<double> kRange{0.0, 1e9};
  SettingInfo info;
  info.name = name;
  info.summary = summary;
  info.range = range_text(kRange);
  info.type = "FLOAT";
  info.expected = expected_number(kRange);
  info.accepts = [kRange](const std::string& text) {
    return read_number(text, kRange).has_value();
  };
  add(
      std::move(info), [&field] { return fmt::format("{}", static_cast<double>(field) / kUnit); },
      [&field, kRange](const std::string& text) {
        field = static_cast<std::size_t>(*read_number(text, kRange) * kUnit);
      });
}

void SettingFields::choice(std::string_view name, std::string& field, Names names,
                           std::string_view summary) {
  const std::vector<std::string> known(names.begin(), names.end());
  add_choice(
      name, known, summary, [&field] { return field; },
      [&field, known](std::size_t chosen) { field = known[chosen]; });
}

void SettingFields::add_choice(std::string_view name, const std::vector<std::string>& known,
                               std::string_view summary, const std::function<std::string()>& show,
                               const std::function<void(std::size_t)>& choose) {
  std::vector<std::string> named;
  std::copy_if(known.begin(), known.end(), std::back_inserter(named),
               [](const std::string& one) { return !one.empty(); });
  SettingInfo info;
  info.name = name;
  info.summary = summary;
  info.type = "TEXT";
  info.range = join(named);
  info.expected = "one of " + info.range;
  const auto position = [known](const std::string& text) {
    return static_cast<std::size_t>(std::find(known.begin(), known.end(), text) - known.begin());
  };
  info.accepts = [position, known](const std::string& text) {
    return !text.empty() && position(text) < known.size();
  };
  Field& added = add(std::move(info), show,
                     [position, choose](const std::string& text) { choose(position(text)); });
  added.in_range = [position, show, known] { return position(show()) < known.size(); };
}

SettingFields::Field& SettingFields::add(SettingInfo info, std::function<std::string()> show,
                                         std::function<void(const std::string&)> set) {
  OAS_ASSERT(!knows(info.name));
  info.value = show();
  return fields_.emplace_back(
      Field{std::move(info), std::move(set), std::move(show), [] { return true; }, {}});
}

void SettingFields::when(Names names, const std::function<bool()>& condition,
                         std::string_view otherwise) {
  for (Field& field : fields_) {
    if (std::find(names.begin(), names.end(), field.info.name) == names.end()) continue;
    field.conditions.emplace_back(condition, otherwise);
  }
}

const SettingFields::Field* SettingFields::find(std::string_view name) const {
  const std::string plain = field_name(name);
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const Field& field) { return field.info.name == plain; });
  return found == fields_.end() ? nullptr : &*found;
}

bool SettingFields::set(const Setting& setting) const {
  const Field* const field = find(setting.name);
  if (field == nullptr) return false;
  OAS_REQUIRE(field->info.accepts(setting.value), "{} is '{}'; it must be {}", setting.name,
              setting.value, field->info.expected);
  field->set(setting.value);
  return true;
}

void SettingFields::apply(std::span<const Setting> settings, std::string_view whose,
                          const std::vector<SharedSetting>& family) const {
  for (const Setting& setting : settings) {
    if (!set(setting)) throw_not_looked_at(setting.name, whose, family);
  }
  require_looked_at(settings);
}

void SettingFields::require_looked_at(std::span<const Setting> settings) const {
  for (const Setting& setting : settings) {
    for (const auto& [condition, otherwise] : find(setting.name)->conditions) {
      OAS_REQUIRE(condition(), "{}: {}", setting.name, otherwise);
    }
  }
}

void SettingFields::throw_not_looked_at(const std::string& setting, std::string_view whose,
                                        const std::vector<SharedSetting>& family) const {
  for (const SharedSetting& shared : family) {
    if (shared.info.name != field_name(setting)) continue;
    throw InvalidArgument(fmt::format("{}: {} does not use it; {} {}", setting, whose,
                                      join(shared.by), shared.by.size() == 1 ? "does" : "do"));
  }
  std::vector<std::string> names;
  for (const Field& field : fields_) names.push_back(field.info.name);
  throw InvalidArgument(fmt::format("{} has no setting '{}'; {}", whose, setting,
                                    names.empty() ? "it has none" : "it has " + join(names)));
}

void SettingFields::check() const {
  for (const Field& field : fields_) {
    OAS_REQUIRE(field.in_range(), "{} is {}; it must be {}", field.info.name, field.show(),
                field.info.expected);
  }
}

std::vector<SettingInfo> SettingFields::describe() const {
  std::vector<SettingInfo> list;
  for (const Field& field : fields_) list.push_back(field.info);
  return list;
}

void add_settings(std::string_view member, const std::vector<SettingInfo>& settings,
                  std::vector<SharedSetting>& family) {
  for (const SettingInfo& info : settings) {
    auto shared = std::find_if(family.begin(), family.end(), [&](const SharedSetting& one) {
      return one.info.name == info.name;
    });
    if (shared == family.end()) shared = family.insert(family.end(), {info, {}});
    shared->by.emplace_back(member);
  }
}

}  // namespace oas
