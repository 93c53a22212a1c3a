#include "oas/report/survival_figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/core/markup.hpp"
#include "oas/figures/axis.hpp"
#include "oas/figures/line_styles.hpp"
#include "oas/figures/svg.hpp"

namespace oas {

namespace {

constexpr double kChartWidth = 960.0;
constexpr double kChartLeft = 74.0;
constexpr double kChartTop = 44.0;
constexpr double kChartHeight = 300.0;

class SurvivalChart {
 public:
  SurvivalChart(std::span<const UnitForecast> units, const std::string& what)
      : units_(units),
        steps_(static_cast<double>(units.front().middle.survival.size()) - 1.0),
        svg_(kChartWidth, kChartTop + kChartHeight + 46.0, "survival of units") {
    draw_axes(what);
  }

  std::string draw() {
    std::vector<std::string> names;
    for (const UnitForecast& unit : units_) names.push_back(unit.unit);
    const auto styles = styles_of(names);
    double x = kChartLeft;
    for (const UnitForecast& unit : units_) {
      const Style& style = styles.at(unit.unit);
      if (!unit.lower.survival.empty()) draw_band(unit, style);
      svg_.line(points(unit.middle.survival), style.color, 2.2, style.dash);
      svg_.line({{x, 18.0}, {x + 28.0, 18.0}}, style.color, 2.2, style.dash);
      svg_.label({x + 34.0, 22.0}, unit.unit, "start", 13);
      x += 60.0 + 7.4 * static_cast<double>(num_characters(unit.unit));
    }
    return svg_.finish();
  }

 private:
  [[nodiscard]] Point at(double step, double probability) const {
    return {kChartLeft + (kChartWidth - kChartLeft - 16.0) * step / std::max(steps_, 1.0),
            kChartTop + kChartHeight * (1.0 - probability)};
  }
  [[nodiscard]] std::vector<Point> points(const std::vector<double>& survival) const {
    std::vector<Point> result;
    for (std::size_t k = 0; k < survival.size(); ++k) {
      result.push_back(at(static_cast<double>(k), survival[k]));
    }
    return result;
  }
  void draw_band(const UnitForecast& unit, const Style& style) {
    std::vector<Point> band = points(unit.upper.survival);
    const std::vector<Point> below = points(unit.lower.survival);
    band.insert(band.end(), below.rbegin(), below.rend());
    svg_.area(band, style.color, 0.13);
  }
  void draw_axes(const std::string& what) {
    for (const double p : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      svg_.rule(at(0.0, p), at(steps_, p), p == 0.0);
      svg_.label({kChartLeft - 8.0, at(0.0, p).y + 4.0}, fmt::format("{:g}", p), "end", 12);
    }
    for (const double step : round_ticks(0.0, steps_)) {
      svg_.rule(at(step, 0.0), {at(step, 0.0).x, at(step, 0.0).y + 4.0}, true);
      svg_.label({at(step, 0.0).x, at(step, 0.0).y + 18.0}, fmt::format("{:g}", step), "middle",
                 12);
    }
    svg_.label({0.5 * (kChartLeft + kChartWidth), kChartTop + kChartHeight + 38.0}, "steps ahead",
               "middle", 13);
    svg_.side_label({20.0, kChartTop + 0.5 * kChartHeight}, "P(not yet " + what + ")", 13);
  }

  std::span<const UnitForecast> units_;
  double steps_;
  Svg svg_;
};

}  // namespace

std::string survival_svg(std::span<const UnitForecast> units, const std::string& what) {
  return units.empty() || units.front().middle.survival.empty() ? std::string()
                                                                : SurvivalChart(units, what).draw();
}

}  // namespace oas
