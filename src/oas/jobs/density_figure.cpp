#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/figures/axis.hpp"
#include "oas/figures/svg.hpp"
#include "oas/jobs/log_densities.hpp"

namespace oas {

namespace {

constexpr double kPanelWidth = 300.0;
constexpr double kPanelHeight = 96.0;
constexpr double kGap = 18.0;
constexpr double kLeft = 128.0;  // room for the names of states
constexpr double kTop = 64.0;
constexpr double kBottom = 58.0;
constexpr double kRight = 20.0;
constexpr int kCurvePoints = 160;
constexpr double kMostCounts = 60.0;
constexpr std::size_t kMostDrawn = 12;  // random densities behind each curve
constexpr std::string_view kBar = "#d5dce3";
constexpr std::string_view kDrawn = "#a9cfe8";
constexpr std::string_view kFitted = "#0072B2";
constexpr std::string_view kInk = "#222222";
constexpr std::string_view kFaint = "#e9ecef";

struct Bin {
  double low;
  double high;
  double density;
};

// A bar around each count.
std::vector<Bin> counted(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::vector<Bin> bins;
  for (double k = *low; k <= *high; ++k) bins.push_back({k - 0.5, k + 0.5, 0.0});
  for (const double x : values) {
    bins[static_cast<std::size_t>(x - *low)].density += 1.0 / static_cast<double>(values.size());
  }
  return bins;
}

// Freedman and Diaconis' width, between 6 and 40 bins; of counts that are few a bar for each.
std::vector<Bin> histogram(std::vector<double> values, bool counts) {
  std::sort(values.begin(), values.end());
  if (counts && values.back() - values.front() <= kMostCounts) return counted(values);
  const auto n = static_cast<double>(values.size());
  const double low = values.front();
  const double range = std::max(values.back() - low, std::numeric_limits<double>::min());
  const double middle = values[values.size() * 3 / 4] - values[values.size() / 4];
  const double width = 2.0 * middle / std::cbrt(n);
  const double wanted = width > 0.0 ? std::ceil(range / width) : 40.0;
  const auto count = static_cast<std::size_t>(std::clamp(wanted, 6.0, 40.0));
  const double step = range / static_cast<double>(count);
  std::vector<Bin> bins;
  for (std::size_t i = 0; i < count; ++i) {
    bins.push_back(
        {low + static_cast<double>(i) * step, low + static_cast<double>(i + 1) * step, 0.0});
  }
  for (const double x : values) {
    const auto i = std::min(static_cast<std::size_t>((x - low) / step), count - 1);
    bins[i].density += 1.0 / (n * step);
  }
  return bins;
}

// What is shown of a component: all readings and the bulk of all densities.
Axis axis_of(const DensityCalibration& calibration, int component) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const LabelledReadings& readings = calibration.readings;
  for (Action a{0}; a < readings.num_actions; ++a) {
    for (State s{0}; s < readings.num_states; ++s) {
      const Density& density =
          calibration.sensors(a, s).marginals()[static_cast<std::size_t>(component)];
      low = std::min(low, density.quantile(0.002));
      high = std::max(high, density.quantile(0.998));
      for (const double x : readings.component(a, s, component).values) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
    }
  }
  return {low, high, false};
}

// One panel: a state under an action, one component.
class Panel {
 public:
  Panel(Svg& svg, Point corner, const Axis& axis) : svg_(svg), corner_(corner), axis_(axis) {}

  void draw(const DensityCalibration& calibration, Action action, State state, int component) {
    const auto c = static_cast<std::size_t>(component);
    const std::vector<Bin> bins =
        histogram(calibration.readings.component(action, state, component).values,
                  calibration.sensors(action, state).marginals()[c].discrete());
    const Density& fitted = calibration.sensors(action, state).marginals()[c];
    top_ = 0.0;
    for (const Bin& bin : bins) top_ = std::max(top_, bin.density);
    for (int i = 0; i <= kCurvePoints; ++i) {
      const double height = height_at(fitted, axis_.value(static_cast<double>(i) / kCurvePoints));
      if (std::isfinite(height)) top_ = std::max(top_, std::min(height, 3.0 * top_));
    }
    top_ *= 1.12;
    for (const Tick& tick : axis_.ticks(1.0)) {
      if (tick.label.empty()) continue;
      const double x = place(tick.value, 0.0).x;
      svg_.line({{x, corner_.y}, {x, corner_.y + kPanelHeight}}, kFaint, 1.0);
    }
    for (const Bin& bin : bins) {
      const Point from = place(bin.low, bin.density);
      const Point to = place(bin.high, 0.0);
      svg_.box({from.x + 0.4, from.y}, std::max(to.x - from.x - 0.8, 0.5), to.y - from.y, kBar);
    }
    for (std::size_t k = 0; k < std::min(kMostDrawn, calibration.draws.size()); ++k) {
      curve(calibration.draws[k](action, state).marginals()[c], kDrawn, 0.8);
    }
    curve(fitted, kFitted, 2.0);
    svg_.line({{corner_.x, corner_.y + kPanelHeight},
               {corner_.x + kPanelWidth, corner_.y + kPanelHeight}},
              kInk, 1.2);
  }

 private:
  // Of counts the probability of the nearest one, so that the curve is a stair.
  static double height_at(const Density& density, double x) {
    return density(density.discrete() ? std::round(x) : x);
  }
  [[nodiscard]] Point place(double x, double height) const {
    return {corner_.x + kPanelWidth * std::clamp(axis_.at(x), 0.0, 1.0),
            corner_.y + kPanelHeight * (1.0 - std::clamp(height / top_, 0.0, 1.0))};
  }
  void curve(const Density& density, std::string_view color, double width) {
    std::vector<Point> points;
    for (int i = 0; i <= kCurvePoints; ++i) {
      const double x = axis_.value(static_cast<double>(i) / kCurvePoints);
      points.push_back(place(x, height_at(density, x)));
    }
    svg_.line(points, color, width);
  }

  Svg& svg_;
  Point corner_;
  const Axis& axis_;
  double top_ = 1.0;  // density at the upper edge
};

void draw_axis(Svg& svg, const Axis& axis, double left, double bottom, const std::string& name) {
  for (const Tick& tick : axis.ticks(1.0)) {
    if (tick.label.empty()) continue;
    const double x = left + kPanelWidth * axis.at(tick.value);
    svg.line({{x, bottom}, {x, bottom + 5.0}}, kInk, 1.2);
    svg.label({x, bottom + 19.0}, tick.label, "middle", 12.0);
  }
  svg.label({left + 0.5 * kPanelWidth, bottom + 40.0}, name, "middle", 14.0);
}

void draw_key(Svg& svg, double x, double y) {
  svg.box({x, y - 10.0}, 14.0, 12.0, kBar);
  svg.label({x + 20.0, y}, "labelled readings", "start", 12.0);
  svg.line({{x + 140.0, y - 4.0}, {x + 162.0, y - 4.0}}, kFitted, 2.0);
  svg.label({x + 168.0, y}, "density", "start", 12.0);
  svg.line({{x + 230.0, y - 4.0}, {x + 252.0, y - 4.0}}, kDrawn, 1.2);
  svg.label({x + 258.0, y}, "draws", "start", 12.0);
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 17;
  if (name.size() <= kLongest) return name;
  std::size_t end = kLongest - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // UTF-8
  return name.substr(0, end) + "…";
}

}  // namespace

std::string calibration_figure_svg(const Pomdp& model, const DensityCalibration& calibration) {
  const LabelledReadings& readings = calibration.readings;
  const int rows = readings.num_actions * readings.num_states;
  constexpr int kMostRows = 60;
  constexpr int kMostColumns = 12;
  OAS_REQUIRE(rows <= kMostRows && readings.dimension <= kMostColumns,
              "a figure of {} densities of {} components would be too large; up to {} and {} can "
              "be drawn",
              rows, readings.dimension, kMostRows, kMostColumns);
  const double width =
      kLeft + readings.dimension * kPanelWidth + (readings.dimension - 1) * kGap + kRight;
  const double bottom = kTop + rows * kPanelHeight + (rows - 1) * kGap;
  Svg svg(std::max(width, kLeft + 330.0), bottom + kBottom);
  svg.label({kLeft, 24.0}, "Labelled readings and the densities fitted to them", "start", 15.0,
            "bold");
  draw_key(svg, kLeft, 48.0);
  for (int i = 0; i < readings.dimension; ++i) {
    const double left = kLeft + i * (kPanelWidth + kGap);
    const Axis axis = axis_of(calibration, i);
    double y = kTop;
    for (Action a{0}; a < readings.num_actions; ++a) {
      for (State s{0}; s < readings.num_states; ++s) {
        Panel(svg, {left, y}, axis).draw(calibration, a, s, i);
        const std::size_t size = readings.component(a, s, i).size();
        svg.label({left + kPanelWidth - 4.0, y + 14.0}, fmt::format("n = {}", size), "end", 11.0);
        if (i == 0) {
          const double middle = y + 0.5 * kPanelHeight;
          const Labels& states = model.states();
          svg.label({kLeft - 12.0, middle + 4.0},
                    shortened(states.has_names() ? states[s] : "state " + states[s]), "end", 13.0);
          if (calibration.by_action) {
            svg.label({kLeft - 12.0, middle + 21.0}, shortened(model.actions()[a]), "end", 11.0);
          }
        }
        y += kPanelHeight + kGap;
      }
    }
    draw_axis(svg, axis, left, bottom, readings.columns[static_cast<std::size_t>(i)]);
  }
  return svg.finish();
}

}  // namespace oas
