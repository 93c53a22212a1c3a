#include "oas/study/caption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"

namespace oas {

namespace {

// "1,635,200".
std::string grouped(std::int64_t value) {
  std::string text = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string words_of(const SettingValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return grouped(*whole);
  if (const auto* number = std::get_if<double>(&value)) {
    return with_minus(fmt::format("{:.4g}", *number));
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return fmt::format("{}", fmt::join(*list, ", "));
  }
  return to_text(value);
}

// "a", "a and b", "a, b and c".
std::string joined(const std::vector<std::string>& words, std::string_view last) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} {} {}", fmt::join(words.begin(), words.end() - 1, ", "), last,
                     words.back());
}

bool is_one_of(const std::vector<std::string>& values, const std::string& text) {
  return std::find(values.begin(), values.end(), text) != values.end();
}

std::vector<const Task*> tasks_behind(const Study& study, const FigureSpec& spec) {
  std::vector<const Task*> tasks;
  for (const Task& task : study.tasks) {
    bool wanted = task.kind == spec.kind && (spec.sweep.empty() || task.sweep == spec.sweep);
    for (const auto& [column, values] : spec.where) {
      const auto setting = task.settings.values().find(column);
      if (column == "sweep") {
        wanted = wanted && is_one_of(values, task.sweep);
      } else if (setting != task.settings.values().end()) {
        wanted = wanted && is_one_of(values, to_text(setting->second));
      }
    }
    if (wanted) tasks.push_back(&task);
  }
  return tasks;
}

// All values of a setting, in the order of the tasks.
std::vector<std::string> values_of(const std::vector<const Task*>& tasks, const std::string& name) {
  std::vector<std::string> values;
  for (const Task* task : tasks) {
    const auto found = task->settings.values().find(name);
    if (found == task->settings.values().end()) continue;
    const std::string words = words_of(found->second);
    if (!is_one_of(values, words)) values.push_back(words);
  }
  return values;
}

std::string filled(const Study& study, const FigureSpec& spec,
                   const std::vector<const Task*>& tasks) {
  std::string out;
  std::string_view text = spec.caption;
  while (true) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = text.find('}', open);
    OAS_REQUIRE(close != std::string_view::npos, "caption of figure {}: a '{{' is never closed",
                spec.name);
    const std::string name(text.substr(open + 1, close - open - 1));
    std::vector<std::string> values = {grouped(study.replications)};
    if (name != "replications") values = values_of(tasks, name);
    OAS_REQUIRE(!values.empty(), "caption of figure {}: no task of it sets '{}'", spec.name, name);
    out += joined(values, "and");
    text.remove_prefix(close + 1);
  }
}

// "5 runs", or "3 to 5" where some are missing.
std::pair<int, int> numbers_of_runs(const FigureData& figure) {
  std::pair<int, int> range{0, 0};
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      const int count = series.points.empty() ? 0 : series.points.back().y.count;
      range.first = range.second == 0 ? count : std::min(range.first, count);
      range.second = std::max(range.second, count);
    }
  }
  return range;
}

}  // namespace

std::string caption_text(const Study& study, const FigureSpec& spec) {
  return filled(study, spec, tasks_behind(study, spec));
}

void check_captions(const Study& study) {
  for (const FigureSpec& spec : study.figures) {
    const std::vector<const Task*> tasks = tasks_behind(study, spec);
    if (!tasks.empty()) static_cast<void>(filled(study, spec, tasks));
  }
}

std::string drawing_text(const Study& study, const FigureData& figure) {
  const FigureSpec& spec = figure.spec;
  const std::vector<const Task*> tasks = tasks_behind(study, spec);
  const auto [fewest, most] = numbers_of_runs(figure);
  std::string text = fmt::format(
      "Lines are means over {} run{}",
      fewest == most ? grouped(most) : fmt::format("{} to {}", fewest, most), most == 1 ? "" : "s");
  const std::vector<std::string> pairs = values_of(tasks, "pairs");
  const std::vector<std::string> steps = values_of(tasks, "steps");
  if (!pairs.empty()) text += fmt::format(" of {} pairs of steps", joined(pairs, "or"));
  const std::vector<std::string> logs = values_of(tasks, "logs");
  if (!logs.empty()) text += fmt::format(" of {} logs", joined(logs, "or"));
  if (pairs.empty() && !steps.empty()) text += fmt::format(" of {} steps", joined(steps, "or"));
  if (values_of(tasks, "instances") == std::vector<std::string>{"per-replication"}) {
    text += ", each on an instance of its own";
  }
  // Bootstraps of few runs are not made.
  const bool bootstrap = spec.bootstrap && most >= kFewestForBootstrap;
  if (most > 1) {
    text += fmt::format(", bands 95 % intervals ({})", bootstrap ? "bootstrap-t" : "Student");
  }
  text += ".";
  if (spec.predicted) {
    text += fmt::format(" Dotted: the predicted exponent {}.",
                        with_minus(fmt::format("{:g}", *spec.predicted)));
  }
  if (spec.fit_decades) {
    text +=
        fmt::format(" Exponents are fitted run by run to the last {} of {}.",
                    *spec.fit_decades == 1.0 ? "power of ten"
                                             : fmt::format("{:g} powers of ten", *spec.fit_decades),
                    spec.x_label);
  }
  return text;
}

}  // namespace oas
