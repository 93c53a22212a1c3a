#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "oas/figures/axis.hpp"
#include "oas/figures/svg.hpp"
#include "oas/jobs/log_diagnosis.hpp"

namespace oas {

namespace {

constexpr double kWidth = 720.0;
constexpr double kPanelLeft = 62.0;
constexpr double kPanel = 170.0;
constexpr double kPanelGap = 78.0;
constexpr double kPanelTop = 44.0;
constexpr const char* kPanelInk = "#222222";
constexpr const char* kCritical = "#D55E00";
constexpr std::array<const char*, kMostGroups> kGroupColors = {"#0072B2", "#E69F00", "#009E73",
                                                               "#CC79A7", "#56B4E9", "#999999"};

// One panel: an axis on the left, a caption above, a place on the page.
class DiagnosisPanel {
 public:
  DiagnosisPanel(Svg& svg, double top, double most, const std::string& caption)
      : svg_(svg), top_(top), axis_(0.0, std::max(most, 1e-9), false) {
    svg_.label({kPanelLeft, top - 12.0}, caption, "start", 14.0, "bold");
    for (const Tick& tick : axis_.ticks(1.0)) {
      if (tick.label.empty() || axis_.at(tick.value) < 0.0 || axis_.at(tick.value) > 1.0) continue;
      svg_.line({{kPanelLeft - 4.0, y(tick.value)}, {kPanelLeft, y(tick.value)}}, kPanelInk, 1.0);
      svg_.label({kPanelLeft - 7.0, y(tick.value) + 4.0}, tick.label, "end", 11.0);
    }
    svg_.line({{kPanelLeft, top}, {kPanelLeft, top + kPanel}, {kWidth - 20.0, top + kPanel}},
              kPanelInk, 1.2);
  }

  [[nodiscard]] double y(double value) const { return top_ + kPanel * (1.0 - axis_.at(value)); }
  [[nodiscard]] static double x(double share) {
    return kPanelLeft + share * (kWidth - 20.0 - kPanelLeft);
  }
  void critical(double value, const std::string& words) {
    svg_.line({{kPanelLeft, y(value)}, {kWidth - 20.0, y(value)}}, kCritical, 1.2);
    svg_.label({kWidth - 22.0, y(value) - 4.0}, words, "end", 11.0);
  }
  void below(double share, const std::string& words, const char* anchor) {
    svg_.label({x(share), top_ + kPanel + 17.0}, words, anchor, 11.0);
  }

 private:
  Svg& svg_;
  double top_;
  Axis axis_;
};

double most_of(const ScoreTest& test, double critical) {
  return std::max(critical, *std::max_element(test.path.begin(), test.path.end()));
}

// The statistic of a split behind each stretch.
void draw_path(Svg& svg, double top, const ScoreTest& test, const char* caption,
               const LogDiagnosis& diagnosis, bool with_change) {
  const double critical = test.critical(diagnosis.level);
  DiagnosisPanel panel(svg, top, most_of(test, critical), caption);
  const auto all = static_cast<double>(diagnosis.stretch_rows.back());
  std::vector<Point> line;
  for (std::size_t c = 0; c < test.path.size(); ++c) {
    if (test.path[c] == 0.0) continue;
    const double share = static_cast<double>(diagnosis.stretch_rows[c]) / all;
    line.push_back({DiagnosisPanel::x(share), panel.y(test.path[c])});
  }
  if (with_change && diagnosis.change_point) {
    const ChangePoint& at = *diagnosis.change_point;
    const double low = DiagnosisPanel::x(static_cast<double>(at.lower) / all);
    const double high = DiagnosisPanel::x(static_cast<double>(at.upper) / all);
    svg.box({low, top}, std::max(high - low, 1.0), kPanel, "#dddddd");
    const double middle = DiagnosisPanel::x(static_cast<double>(at.rows_before) / all);
    svg.line({{middle, top}, {middle, top + kPanel}}, kPanelInk, 1.0);
    svg.label({middle, top + kPanel + 32.0}, diagnosis.change_text[0], "middle", 11.0, "bold");
  }
  svg.line(line, "#0072B2", 1.8);
  panel.critical(critical, fmt::format("level {:g}", diagnosis.level));
  panel.below(0.0, diagnosis.stretch_end_text.front(), "start");
  panel.below(1.0, diagnosis.stretch_end_text.back(), "end");
}

// How much each unit adds to the statistic of all.
void draw_units(Svg& svg, double top, const LogDiagnosis& diagnosis) {
  const ScoreTest& test = diagnosis.unit_difference;
  const double usual = test.dimensions;
  DiagnosisPanel panel(svg, top, most_of(test, usual),
                       "Units: how far each is from the model of all");
  const auto count = static_cast<double>(test.path.size());
  const double radius = std::clamp(120.0 / count, 1.5, 5.0);
  for (std::size_t u = 0; u < test.path.size(); ++u) {
    const int group =
        diagnosis.groups && diagnosis.groups->clear ? diagnosis.groups->of_unit[u] : 0;
    svg.dot({DiagnosisPanel::x((static_cast<double>(u) + 0.5) / count), panel.y(test.path[u])},
            radius, kGroupColors[static_cast<std::size_t>(group)], 1.0);
  }
  panel.critical(usual, "expected when all are alike");
  panel.below(0.0, diagnosis.units.front(), "start");
  panel.below(1.0, diagnosis.units.back(), "end");
  if (!diagnosis.groups || !diagnosis.groups->clear) return;
  for (std::size_t g = 0; g < diagnosis.groups->dynamics.size(); ++g) {
    const double x = kPanelLeft + 200.0 + 90.0 * static_cast<double>(g);
    svg.dot({x, top + kPanel + 28.0}, 5.0, kGroupColors[g], 1.0);
    svg.label({x + 10.0, top + kPanel + 32.0}, fmt::format("group {}", g + 1), "start", 11.0);
  }
}

void draw_bars(Svg& svg, DiagnosisPanel& panel, const std::vector<double>& heights, double from,
               double to) {
  const auto count = static_cast<double>(heights.size());
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const double left = DiagnosisPanel::x(from + (to - from) * static_cast<double>(i) / count);
    const double right =
        DiagnosisPanel::x(from + (to - from) * (static_cast<double>(i) + 0.85) / count);
    svg.box({left, panel.y(heights[i])}, right - left,
            std::max(panel.y(0.0) - panel.y(heights[i]), 0.0), "#56B4E9");
  }
}

// Ranks of readings among those predicted: even, when the sensors fit.
void draw_ranks(Svg& svg, double top, const ReadingFit& fit) {
  double most = 0.0;
  std::vector<std::vector<double>> heights;
  for (const ReadingFit::Part& part : fit.parts) {
    heights.emplace_back();
    for (const std::int64_t count : part.histogram) {
      const double even = part.rows / static_cast<double>(part.histogram.size());
      heights.back().push_back(static_cast<double>(count) / even);
      most = std::max(most, heights.back().back());
    }
  }
  DiagnosisPanel panel(svg, top, most, "Readings ranked among predicted ones, against even ranks");
  const auto parts = static_cast<double>(heights.size());
  for (std::size_t p = 0; p < heights.size(); ++p) {
    const double from = static_cast<double>(p) / parts;
    draw_bars(svg, panel, heights[p], from, from + 0.94 / parts);
    panel.below(from + 0.47 / parts, fit.parts[p].name, "middle");
  }
  panel.critical(1.0, "expected");
}

// The readings that fit worst.
void draw_cells(Svg& svg, double top, const SensorFit& fit) {
  std::vector<double> heights;
  for (const SensorFit::Cell& cell : fit.worst) heights.push_back(std::abs(cell.z));
  const double most = heights.empty() ? 1.0 : *std::max_element(heights.begin(), heights.end());
  DiagnosisPanel panel(svg, top, std::max(most, 4.0),
                       "Readings that fit worst: standard deviations from what was expected");
  draw_bars(svg, panel, heights, 0.0, 1.0);
  for (std::size_t i = 0; i < fit.worst.size(); ++i) {
    panel.below((static_cast<double>(i) + 0.42) / static_cast<double>(fit.worst.size()),
                fmt::format("{:.0f} of {:.1f}", fit.worst[i].observed, fit.worst[i].expected),
                "middle");
  }
}

}  // namespace

std::string diagnosis_figure_svg(const LogDiagnosis& diagnosis) {
  const bool change = diagnosis.change.tested();
  const bool drift = diagnosis.drift.tested();
  const bool units = diagnosis.unit_difference.tested();
  const bool readings = diagnosis.reading_fit && !diagnosis.reading_fit->parts.empty();
  const bool cells = diagnosis.sensor_fit && !diagnosis.sensor_fit->worst.empty();
  const int panels = change + drift + units + readings + cells;
  Svg svg(kWidth, kPanelTop + std::max(panels, 1) * (kPanel + kPanelGap));
  double top = kPanelTop;
  const auto next = [&top] {
    const double here = top;
    top += kPanel + kPanelGap;
    return here;
  };
  if (change)
    draw_path(svg, next(), diagnosis.change,
              "Dynamics: evidence (-log10) for a change at each place", diagnosis, true);
  if (units) draw_units(svg, next(), diagnosis);
  if (drift)
    draw_path(svg, next(), diagnosis.drift, "Sensors: evidence (-log10) for a change at each place",
              diagnosis, false);
  if (readings) draw_ranks(svg, next(), *diagnosis.reading_fit);
  if (cells) draw_cells(svg, next(), *diagnosis.sensor_fit);
  if (panels == 0) svg.label({kPanelLeft, kPanelTop}, "Nothing could be tested", "start", 14.0);
  return svg.finish();
}

}  // namespace oas
