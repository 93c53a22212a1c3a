#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "oas/study/summary.hpp"

namespace oas {

namespace {

constexpr const char* kNoData = "?";
constexpr std::array<std::string_view, 5> kStatistics = {"last", "slope", "difference", "count",
                                                         "covers"};
constexpr std::array<std::string_view, 3> kAggregates = {"min", "median", "max"};

// {figure.statistic.aggregate[label;label]}
struct Placeholder {
  std::string figure;
  std::string statistic;
  std::string aggregate = "median";
  std::vector<std::string> labels;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Placeholder parse_placeholder(std::string_view text) {
  Placeholder placeholder;
  const std::size_t bracket = text.find('[');
  if (bracket != std::string_view::npos) {
    OAS_REQUIRE(text.ends_with(']'), "answer: '{{{}}}' lacks a ]", text);
    placeholder.labels = split(text.substr(bracket + 1, text.size() - bracket - 2), ';');
  }
  const std::vector<std::string> words = split(text.substr(0, bracket), '.');
  OAS_REQUIRE(words.size() == 2 || words.size() == 3,
              "answer: '{{{}}}' must read {{figure.statistic.aggregate[labels]}}", text);
  placeholder.figure = words[0];
  placeholder.statistic = words[1];
  if (words.size() == 3) placeholder.aggregate = words[2];
  const auto known = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  OAS_REQUIRE(known(kStatistics, placeholder.statistic), "answer: no statistic '{}'; known are {}",
              placeholder.statistic, fmt::join(kStatistics, ", "));
  OAS_REQUIRE(known(kAggregates, placeholder.aggregate), "answer: no aggregate '{}'; known are {}",
              placeholder.aggregate, fmt::join(kAggregates, ", "));
  return placeholder;
}

// Calls words(text between) and number(placeholder), in order.
template <class Words, class Number>
void walk(std::string_view text, const Words& words, const Number& number) {
  while (true) {
    const std::size_t open = text.find('{');
    words(text.substr(0, open));
    if (open == std::string_view::npos) return;
    const std::size_t close = text.find('}', open);
    OAS_REQUIRE(close != std::string_view::npos, "answer: a '{{' is never closed");
    number(parse_placeholder(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
}

bool chosen(const Placeholder& placeholder, const Panel& panel, const Series& series) {
  return std::all_of(
      placeholder.labels.begin(), placeholder.labels.end(),
      [&](const std::string& label) { return label == panel.label || label == series.label; });
}

bool covers(const FigureSpec& spec, const Series& series) {
  return series.slope && spec.predicted && series.slope->lower <= *spec.predicted &&
         *spec.predicted <= series.slope->upper;
}

std::string number_text(const Placeholder& placeholder, const FigureData& figure) {
  std::vector<double> values;
  int count = 0;
  int covering = 0;
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      if (!chosen(placeholder, panel, series)) continue;
      ++count;
      covering += covers(figure.spec, series) ? 1 : 0;
      if (placeholder.statistic == "last") values.push_back(series.points.back().y.mean);
      if (placeholder.statistic == "slope" && series.slope) values.push_back(series.slope->mean);
      if (placeholder.statistic == "difference" && series.difference) {
        values.push_back(series.difference->mean);
      }
    }
  }
  if (placeholder.statistic == "count") return fmt::format("{}", count);
  if (placeholder.statistic == "covers") return fmt::format("{}", covering);
  if (values.empty()) return kNoData;
  double value = median(values);
  if (placeholder.aggregate == "min") value = *std::min_element(values.begin(), values.end());
  if (placeholder.aggregate == "max") value = *std::max_element(values.begin(), values.end());
  return with_minus(value >= 1000.0 && value < 1e9 ? fmt::format("{:.0f}", value)
                                                   : fmt::format("{:.3g}", value));
}

std::string number_text(const Placeholder& placeholder, const std::vector<FigureData>& figures) {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const FigureData& f) {
    return f.spec.name == placeholder.figure;
  });
  return found == figures.end() ? kNoData : number_text(placeholder, *found);
}

}  // namespace

std::string answer_text(const Study& study, const std::vector<FigureData>& figures) {
  std::string out;
  walk(
      study.answer, [&](std::string_view words) { out += words; },
      [&](const Placeholder& placeholder) { out += number_text(placeholder, figures); });
  return out;
}

bool answer_has_data(const Study& study, const std::vector<FigureData>& figures) {
  bool all = true;
  walk(
      study.answer, [](std::string_view) {},
      [&](const Placeholder& placeholder) {
        all = all && number_text(placeholder, figures) != kNoData;
      });
  return all;
}

void check_answer(const Study& study) {
  walk(
      study.answer, [](std::string_view) {},
      [&](const Placeholder& placeholder) {
        OAS_REQUIRE(std::any_of(study.figures.begin(), study.figures.end(),
                                [&](const FigureSpec& f) { return f.name == placeholder.figure; }),
                    "answer: no figure is called '{}'", placeholder.figure);
      });
}

}  // namespace oas
