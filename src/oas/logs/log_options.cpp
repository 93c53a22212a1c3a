#include "oas/logs/log_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/dialect.hpp"
#include "oas/logs/detail/log_header.hpp"
#include "oas/logs/detail/step_classes.hpp"
#include "oas/logs/detail/time_window.hpp"
#include "oas/model/label_lookup.hpp"
#include "oas/model/timing.hpp"

namespace oas {

namespace {

using detail::shown;

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 5> kTimeUnits = {
    {{"s", 1.0}, {"m", 60.0}, {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}}};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    words.emplace_back(text.substr(0, end));
    if (end == text.size()) return words;
    text.remove_prefix(end + 1);
  }
}

bool is_part(std::string_view name) {
  const auto& names = detail::kLogColumnNames;
  return name == "likelihood" || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

ColumnNames::ColumnNames(std::string_view text) {
  if (text.empty()) return;
  for (const std::string& word : split(text, ',')) {
    const std::size_t equals = word.find('=');
    OAS_REQUIRE(equals != std::string::npos, "columns: {} is not of the form part=column",
                shown(word));
    Part part{word.substr(0, equals), {}};
    OAS_REQUIRE(is_part(part.name), "columns: unknown part {}; known are {}, likelihood",
                shown(part.name), fmt::join(detail::kLogColumnNames, ", "));
    OAS_REQUIRE(find(part.name) == nullptr, "columns: {} is named twice", part.name);
    if (equals + 1 < word.size()) part.columns = split(word.substr(equals + 1), '+');
    for (const std::string& column : part.columns) {
      OAS_REQUIRE(!column.empty(), "columns: {} names a column without name", shown(word));
    }
    OAS_REQUIRE(part.columns.size() <= 1 || part.name == "observation" || part.name == "likelihood",
                "columns: {} stands in one column, not in {}", part.name, part.columns.size());
    parts_.push_back(std::move(part));
  }
}

const std::vector<std::string>* ColumnNames::find(std::string_view part) const {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& one) { return one.name == part; });
  return found == parts_.end() ? nullptr : &found->columns;
}

Gaps::Gaps(std::string_view text) {
  constexpr std::string_view kAction = "action=";
  if (text.empty() || text == "error") return;
  if (text == "repeat") {
    kind = Kind::repeat;
  } else if (text == "new-run") {
    kind = Kind::new_run;
  } else {
    OAS_REQUIRE(text.starts_with(kAction) && text.size() > kAction.size(),
                "gaps: {} is not one of error, action=NAME, repeat, new-run", shown(text));
    kind = Kind::action;
    action = text.substr(kAction.size());
  }
}

std::vector<char> noticed_states(std::string_view text, const Labels& states) {
  if (text.empty()) return {};
  std::vector<char> noticed(static_cast<std::size_t>(states.size()), 0);
  for (const int state : elements_named(text, states, "state", "noticed")) {
    noticed[static_cast<std::size_t>(state)] = 1;
  }
  return noticed;
}

Outliers::Outliers(std::string_view text) {
  if (text.empty() || text == "error") return;
  if (text == "missing") {
    kind = Kind::missing;
    return;
  }
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, share);
  OAS_REQUIRE(parsed.ec == std::errc() && parsed.ptr == end && share > 0.0 && share <= 0.5,
              "outliers: {} is not one of error, missing, a share above 0 and up to 0.5",
              shown(text));
  kind = Kind::share;
}

Duration parse_duration(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  OAS_REQUIRE(parsed.ec == std::errc() && std::isfinite(value) && value > 0.0,
              "{} is not a length of time: expected a positive number, then s, m, min, "
              "h, d or nothing",
              shown(text));
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (unit.empty()) return {value, false};
  const auto* const found = std::find_if(kTimeUnits.begin(), kTimeUnits.end(),
                                         [&](const TimeUnit& one) { return one.name == unit; });
  OAS_REQUIRE(found != kTimeUnits.end(), "{}: unknown unit of time {}; known are s, m, min, h, d",
              shown(text), shown(unit));
  return {value * found->seconds, true};
}

std::string shown_seconds(double seconds) {
  for (auto unit = kTimeUnits.rbegin(); unit != kTimeUnits.rend(); ++unit) {
    if (unit->name == "m") continue;
    const double count = seconds / unit->seconds;
    if (count >= 1.0 && count == std::round(count))
      return fmt::format("{:g} {}", count, unit->name);
  }
  return fmt::format("{:g} s", seconds);
}

std::string about_seconds(double seconds) {
  const auto unit = std::find_if(kTimeUnits.rbegin(), kTimeUnits.rend() - 1, [&](const auto& one) {
    return one.name != "m" && seconds >= one.seconds;
  });
  return fmt::format("{:.3g} {}", seconds / unit->seconds, unit->name);
}

void LogOptions::validate() const {
  static_cast<void>(ColumnNames(columns));
  static_cast<void>(detail::Dialect(*this));
  static_cast<void>(Gaps(gaps));
  if (!rows.empty()) static_cast<void>(parse_rows(rows));
  static_cast<void>(Outliers(outliers));
  static_cast<void>(detail::TimeWindow(*this));
  OAS_REQUIRE(noticed.empty() || known_states,
              "noticed: {} is for known states, but they are not used (--known-states)",
              detail::shown(noticed));
  if (!detail::StepClasses(step_classes).empty()) {
    OAS_REQUIRE(step.empty(), "step: {} and step_classes: {}: steps are equal or in classes", step,
                step_classes);
    OAS_REQUIRE(
        !Gaps(gaps).inserts_rows(),
        "gaps: {} puts in rows of one step each, which steps in classes have not; error and "
        "new-run go with step_classes",
        detail::shown(gaps));
  }
  if (step.empty()) return;
  try {
    static_cast<void>(parse_duration(step));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("step: {}", error.what()));
  }
}

}  // namespace oas
