#include "oas/report/belief_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "oas/core/markup.hpp"
#include "oas/figures/axis.hpp"
#include "oas/figures/line_styles.hpp"
#include "oas/figures/svg.hpp"

namespace oas {

namespace {

constexpr double kWidth = 960.0;
constexpr double kLeft = 110.0;
constexpr double kRight = 16.0;
constexpr double kBand = 84.0;
constexpr double kStrip = 10.0;  // of actions
constexpr double kUnit = kBand + kStrip + 44.0;
constexpr std::size_t kMostColumns = 800;  // more cannot be seen

std::vector<std::string> colors_of(const Labels& labels) {
  std::vector<std::string> names;
  for (int i = 0; i < labels.size(); ++i) names.push_back(labels[i]);
  const auto styles = styles_of(names);
  std::vector<std::string> colors;
  for (const std::string& name : names) colors.push_back(styles.at(name).color);
  return colors;
}

// Not those of states, which stand above them.
std::vector<std::string> colors_of_actions(int actions) {
  constexpr std::array kColors = {"#7B3294", "#B2182B", "#1B7837", "#2B6CB0", "#8C510A", "#888888"};
  std::vector<std::string> colors;
  for (int a = 0; a < actions; ++a) {
    colors.emplace_back(kColors[static_cast<std::size_t>(a) % kColors.size()]);
  }
  return colors;
}

// A legend in as many lines as it takes; returns where the next thing can stand.
double draw_legend(Svg& svg, double top, const std::string& head, const Labels& labels,
                   const std::vector<std::string>& colors, double opacity, int left_out = -1) {
  double x = kLeft;
  svg.label({kLeft - 10.0, top + 10.0}, head, "end", 12);
  for (int i = 0; i < labels.size(); ++i) {
    if (i == left_out) continue;
    const double needs = 30.0 + 7.2 * static_cast<double>(num_characters(labels[i]));
    if (x + needs > kWidth && x > kLeft) {
      x = kLeft;
      top += 20.0;
    }
    svg.shade({x, top}, 14.0, 12.0, colors[static_cast<std::size_t>(i)], opacity, labels[i]);
    svg.label({x + 20.0, top + 10.0}, labels[i], "start", 12);
    x += needs + 12.0;
  }
  return top + 22.0;
}

class History {
 public:
  History(const UnitHistory& unit, int states)
      : unit_(unit), states_(static_cast<std::size_t>(states)) {
    const std::size_t times = unit.smoothed.size() / states_;
    columns_ = std::min(times, kMostColumns);
    for (std::size_t c = 0; c <= columns_; ++c) cuts_.push_back(c * times / columns_);
  }

  void draw(Svg& svg, double top, const std::vector<std::string>& colors,
            const std::vector<std::string>& action_colors, Action usual) const {
    svg.label({kLeft - 10.0, top + 0.5 * kBand}, unit_.unit, "end", 13, "bold");
    std::vector<double> below(columns_, 0.0);
    for (std::size_t s = 0; s < states_; ++s) {
      std::vector<Point> points;
      std::vector<Point> back;
      for (std::size_t c = 0; c < columns_; ++c) {
        const double start = y(top, below[c]);
        below[c] += mean(c, s);
        for (const double x : {left(c), left(c + 1)}) {
          points.push_back({x, y(top, below[c])});
          back.push_back({x, start});
        }
      }
      points.insert(points.end(), back.rbegin(), back.rend());
      svg.area(points, colors[s], 0.8);
    }
    draw_actions(svg, top + kBand + 2.0, action_colors, usual);
    draw_steps(svg, top + kBand + kStrip + 6.0);
  }

 private:
  [[nodiscard]] double left(std::size_t column) const {
    return kLeft +
           (kWidth - kLeft - kRight) * static_cast<double>(column) / static_cast<double>(columns_);
  }
  static double y(double top, double share) { return top + kBand * (1.0 - std::min(share, 1.0)); }
  [[nodiscard]] double mean(std::size_t column, std::size_t state) const {
    double sum = 0.0;
    for (std::size_t t = cuts_[column]; t < cuts_[column + 1]; ++t) {
      sum += unit_.smoothed[t * states_ + state];
    }
    return sum / static_cast<double>(cuts_[column + 1] - cuts_[column]);
  }
  void draw_actions(Svg& svg, double top, const std::vector<std::string>& colors,
                    Action usual) const {
    for (std::size_t c = 0; c < columns_; ++c) {
      for (std::size_t t = cuts_[c]; t < std::min(cuts_[c + 1], unit_.actions.size()); ++t) {
        if (unit_.actions[t] == usual) continue;
        const double width = std::max(1.5, left(c + 1) - left(c));
        svg.box({left(c), top}, width, kStrip, colors[static_cast<std::size_t>(unit_.actions[t])]);
      }
    }
  }
  void draw_steps(Svg& svg, double top) const {
    const auto steps = static_cast<double>(unit_.smoothed.size() / states_);
    for (const Tick& tick : ticks()) {
      const double x = kLeft + (kWidth - kLeft - kRight) * tick.value / steps;
      if (x < kLeft || x > kWidth - kRight) continue;
      svg.rule({x, top - 4.0}, {x, top}, true);
      svg.label({x, top + 12.0}, tick.label, "middle", 11);
    }
  }
  // In steps from the first one; labelled with times where there are some.
  [[nodiscard]] std::vector<Tick> ticks() const {
    std::vector<Tick> ticks;
    if (unit_.times.empty()) {
      const auto first = static_cast<double>(unit_.first_step);
      const auto steps = static_cast<double>(unit_.smoothed.size() / states_);
      for (const double step : round_ticks(first, first + steps)) {
        ticks.push_back({step - first, fmt::format("{:g}", step)});
      }
      return ticks;
    }
    if (unit_.dates) {
      ticks = date_ticks(unit_.times.front(), unit_.times.back());
    } else {
      for (const double time : round_ticks(unit_.times.front(), unit_.times.back())) {
        ticks.push_back({time, fmt::format("{:g}", time)});
      }
    }
    for (Tick& tick : ticks) tick.value = step_at(tick.value);
    return ticks;
  }
  // Between rows that are not equally far apart, too.
  [[nodiscard]] double step_at(double time) const {
    const auto after = std::lower_bound(unit_.times.begin(), unit_.times.end(), time);
    const auto step = static_cast<double>(after - unit_.times.begin());
    if (after == unit_.times.begin() || after == unit_.times.end()) return step;
    return step - (*after - time) / (*after - *(after - 1));
  }

  const UnitHistory& unit_;
  std::size_t states_;
  std::size_t columns_;
  std::vector<std::size_t> cuts_;  // of times into columns
};

Action commonest(std::span<const UnitHistory> histories) {
  std::map<Action, int> counts;
  for (const UnitHistory& unit : histories) {
    for (const Action action : unit.actions) ++counts[action];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Action{0} : most->first;
}

}  // namespace

std::string belief_history_svg(const Pomdp& model, std::span<const UnitHistory> histories) {
  const std::vector<std::string> states = colors_of(model.states());
  const std::vector<std::string> actions = colors_of_actions(model.num_actions());
  const Action usual = commonest(histories);
  const double legends = 22.0 * (2.0 + (model.num_states() + model.num_actions()) / 8.0);
  Svg svg(kWidth, legends + kUnit * static_cast<double>(histories.size()) + 10.0,
          "states of units along time");
  double top = draw_legend(svg, 4.0, "state", model.states(), states, 0.8);
  if (model.num_actions() > 1) {
    top = draw_legend(svg, top, "action", model.actions(), actions, 1.0, usual.value());
  }
  for (const UnitHistory& unit : histories) {
    History(unit, model.num_states()).draw(svg, top + 6.0, states, actions, usual);
    top += kUnit;
  }
  return svg.finish();
}

}  // namespace oas
