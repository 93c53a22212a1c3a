#include "oas/logs/detail/step_classes.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/log_options.hpp"

namespace oas::detail {

namespace {

constexpr double kOfOneLength = 0.1;  // a class that is written as one length, to both sides
constexpr char kAt = '@';
constexpr std::string_view kTo = "..";

Duration class_length(std::string_view text) {
  try {
    return parse_duration(text);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("step_classes: {}", error.what()));
  }
}

// What stands before the class in the name of an action, if a class stands there.
std::string_view without_class(std::string_view name, const std::vector<std::string>& classes) {
  const std::size_t at = name.rfind(kAt);
  if (at == std::string_view::npos || at == 0) return name;
  const bool known =
      std::find(classes.begin(), classes.end(), name.substr(at + 1)) != classes.end();
  return known ? name.substr(0, at) : name;
}

}  // namespace

StepClasses::StepClasses(std::string_view text) : text_(text) {
  if (text.empty()) return;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    add(text.substr(0, end));
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  check_overlap();
}

void StepClasses::add(std::string_view word) {
  const std::size_t equals = word.find('=');
  OAS_REQUIRE(equals != std::string_view::npos && equals > 0,
              "step_classes: {} is not of the form NAME=LENGTH or NAME=FROM..TO", shown(word));
  Class one;
  one.name = word.substr(0, equals);
  one.text = word;
  OAS_REQUIRE(one.name.find(kAt) == std::string::npos,
              "step_classes: the name of a class holds no @, unlike {}", shown(one.name));
  for (const Class& other : classes_) {
    OAS_REQUIRE(other.name != one.name, "step_classes: class {} is named twice", shown(one.name));
  }
  const std::string_view lengths = word.substr(equals + 1);
  const std::size_t to = lengths.find(kTo);
  const bool single = to == std::string_view::npos;
  const Duration from = class_length(single ? lengths : lengths.substr(0, to));
  const Duration until = single ? from : class_length(lengths.substr(to + kTo.size()));
  one.least = single ? from.value * (1.0 - kOfOneLength) : from.value;
  one.most = single ? from.value * (1.0 + kOfOneLength) : until.value;
  if (classes_.empty()) has_unit_ = from.has_unit;
  OAS_REQUIRE(from.has_unit == has_unit_ && until.has_unit == has_unit_,
              "step_classes: all lengths have a unit of time (s, m, min, h, d), or none has: {}",
              shown(text_));
  OAS_REQUIRE(one.least <= one.most, "step_classes: {} ends before it begins", shown(word));
  classes_.push_back(std::move(one));
}

void StepClasses::check_overlap() const {
  std::vector<const Class*> sorted;
  for (const Class& one : classes_) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(), [](const Class* a, const Class* b) {
    return a->least != b->least ? a->least < b->least : a->most < b->most;
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Class& shorter = *sorted[i - 1];
    const Class& longer = *sorted[i];
    OAS_REQUIRE(longer.least >= shorter.most && longer.least > shorter.least,
                "step_classes: {} and {} overlap, so that a step could be in both; write the ends "
                "of a class as NAME=FROM..TO",
                shown(shorter.text), shown(longer.text));
  }
}

std::optional<std::size_t> StepClasses::find(double length, double rounding) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const bool shorter = length < classes_[i].least - rounding;
    if (shorter || length > classes_[i].most + rounding) continue;
    if (!found || classes_[i].least > classes_[*found].least) found = i;
  }
  return found;
}

ClassActions::ClassActions(const Labels& actions, const StepClasses& classes) {
  OAS_REQUIRE(actions.has_names(),
              "step_classes: the actions of the model have no names; those that hold for one class "
              "are named as in 'wait@{}'",
              classes.classes().front().name);
  for (const StepClasses::Class& one : classes.classes()) names_.push_back(one.name);
  std::vector<std::string> logged;
  for (const std::string& name : actions.names()) {
    const std::string_view base = without_class(name, names_);
    if (std::find(logged.begin(), logged.end(), base) == logged.end()) logged.emplace_back(base);
  }
  logged_ = Labels(logged, "action");
  std::vector<char> used(names_.size(), 0);
  for (const std::string& name : logged) {
    const std::optional<int> plain = actions.find(name);
    for (std::size_t c = 0; c < names_.size(); ++c) {
      const std::optional<int> own = actions.find(fmt::format("{}{}{}", name, kAt, names_[c]));
      if (own) used[c] = 1;
      by_class_.emplace_back(own ? *own : plain.value_or(-1));
    }
  }
  for (std::size_t c = 0; c < names_.size(); ++c) {
    OAS_REQUIRE(used[c] != 0 || names_.size() == 1,
                "step_classes: no action of the model is for class {}, as '{}{}{}' would be",
                shown(names_[c]), logged.front(), kAt, names_[c]);
  }
}

Action ClassActions::in_class(Action logged, std::size_t step_class) const {
  const Action found = find(logged, step_class);
  const std::string name = logged_[logged];
  OAS_REQUIRE(found >= 0,
              "action {} was taken for a step of class {}, but the model has no action '{}{}{}'",
              shown(name), shown(names_[step_class]), name, kAt, names_[step_class]);
  return found;
}

std::vector<Action> ClassActions::candidates(Action logged) const {
  std::vector<Action> found;
  for (std::size_t c = 0; c < names_.size(); ++c) {
    const Action one = find(logged, c);
    if (one >= 0 && std::find(found.begin(), found.end(), one) == found.end()) found.push_back(one);
  }
  return found;
}

}  // namespace oas::detail
