#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/labels.hpp"

namespace oas::detail {

/// Steps that are not of equal length, in classes with names, as somebody writes them:
/// "day=20h..28h,week=6d..8d,month=30d". Both ends count; at one that two classes share, the longer
/// class does. One length alone stands for all within a tenth of it.
class StepClasses {
 public:
  struct Class {
    std::string name;
    std::string text;  ///< as it was written
    double least = 0.0;
    double most = 0.0;
  };

  StepClasses() = default;
  /// Throws InvalidArgument naming the option and what is wrong: a class without name or named
  /// twice, a length that is none, classes that overlap, lengths with a unit and without one.
  explicit StepClasses(std::string_view text);

  [[nodiscard]] bool empty() const { return classes_.empty(); }
  /// In the order in which they were written.
  [[nodiscard]] const std::vector<Class>& classes() const { return classes_; }
  [[nodiscard]] bool has_unit() const { return has_unit_; }
  /// As they were written.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The class that a length is in, by its place in classes(); none: it is in no class. A length
  /// may have been rounded by so much.
  [[nodiscard]] std::optional<std::size_t> find(double length, double rounding = 0.0) const;

 private:
  void add(std::string_view word);
  void check_overlap() const;

  std::string text_;
  std::vector<Class> classes_;
  bool has_unit_ = false;
};

/// The actions of a model of which some hold for steps of one class, "wait@week", and the names
/// that a log has for them, "wait".
class ClassActions {
 public:
  /// Throws InvalidArgument where the actions have no names, or where there are several classes and
  /// one of them is in no name.
  ClassActions(const Labels& actions, const StepClasses& classes);

  /// What a log may call actions, in the order of the model's.
  [[nodiscard]] const Labels& logged() const { return logged_; }

  /// The action of a step of this class: the one that is named for it, else the one of that name
  /// alone. Throws InvalidArgument naming both where the model has neither.
  [[nodiscard]] Action in_class(Action logged, std::size_t step_class) const;
  /// The actions that a logged one may be, in the order of the classes, each once.
  [[nodiscard]] std::vector<Action> candidates(Action logged) const;

 private:
  [[nodiscard]] Action find(Action logged, std::size_t step_class) const {
    return by_class_[static_cast<std::size_t>(logged) * names_.size() + step_class];
  }

  std::vector<std::string> names_;  // of classes
  Labels logged_;
  std::vector<Action> by_class_;  // [logged][class]; -1: the model has none
};

}  // namespace oas::detail
