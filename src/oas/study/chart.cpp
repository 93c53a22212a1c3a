#include "oas/study/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "oas/core/markup.hpp"
#include "oas/figures/axis.hpp"
#include "oas/figures/line_styles.hpp"

namespace oas {

namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Axes of x and y for all panels: they hold all means that can be shown, and the bands as far as
// these do not squeeze everything else.
std::pair<Axis, Axis> axes_of(const FigureData& figure) {
  const FigureSpec& spec = figure.spec;
  Range x;
  Range y;
  Range band;
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      for (const SeriesPoint& point : series.points) {
        if (!showable(point.x, spec.log_x)) continue;
        x.add(point.x);
        if (showable(point.y.mean, spec.log_y)) y.add(point.y.mean);
        if (showable(point.y.lower, spec.log_y)) band.add(point.y.lower);
        if (showable(point.y.upper, spec.log_y)) band.add(point.y.upper);
      }
    }
  }
  if (!(x.low <= x.high)) x = {1.0, 10.0};
  if (!(y.low <= y.high)) y = {1.0, 10.0};
  if (spec.log_y) {
    band.low = std::max(band.low, y.low / 3.0);
    band.high = std::min(band.high, y.high * 3.0);
  }
  y.add(std::min(band.low, y.low));
  y.add(std::max(band.high, y.high));
  return {Axis(x.low, x.high, spec.log_x), Axis(y.low, y.high, spec.log_y)};
}

// "exponent −0.5", with a proper minus sign.
std::string exponent_text(const FigureData& figure) {
  const double exponent = *figure.spec.predicted;
  return fmt::format("exponent {}{:g}", exponent < 0.0 ? "−" : "", std::abs(exponent));
}

std::string interval_text(const MeanInterval& y) {
  const bool known = std::isfinite(y.lower) && std::isfinite(y.upper);
  return known ? fmt::format(" [{:.4g}, {:.4g}]", y.lower, y.upper) : "";
}

// Where one panel's axes stand, in pixels.
struct Frame {
  double left, top, width, height;
};

class Chart {
 public:
  explicit Chart(const FigureData& figure)
      : figure_(figure), axes_(axes_of(figure)), x_(axes_.first), y_(axes_.second) {
    for (const Panel& panel : figure.panels) {
      for (const Series& series : panel.series) {
        if (std::find(labels_.begin(), labels_.end(), series.label) == labels_.end()) {
          labels_.push_back(series.label);
        }
      }
    }
    styles_ = styles_of(labels_);
  }

  std::string draw() {
    const auto count = static_cast<int>(std::max<std::size_t>(1, figure_.panels.size()));
    const int columns = count == 4 ? 2 : std::min(count, 3);
    const int rows = (count + columns - 1) / columns;
    constexpr double kWidth = 960.0;
    constexpr double kGap = 22.0;
    const double width = (kWidth - kLeft - 16.0 - kGap * (columns - 1)) / columns;
    const double height = columns == 1 ? 400.0 : columns == 2 ? 290.0 : 230.0;
    const double label_height = figure_.spec.panel.empty() ? 6.0 : 26.0;
    const double top = draw_legend(kWidth);
    const double row_height = label_height + height + 30.0;
    for (int i = 0; i < static_cast<int>(figure_.panels.size()); ++i) {
      const Frame frame{kLeft + (i % columns) * (width + kGap),
                        top + (i / columns) * row_height + label_height, width, height};
      draw_panel(figure_.panels[static_cast<std::size_t>(i)], frame, i % columns == 0,
                 i + columns >= count);
    }
    const double bottom = top + rows * row_height;
    text(kLeft + (kWidth - kLeft) / 2.0, bottom + 16.0, figure_.spec.x_label, "middle", 14);
    body_ += fmt::format(
        "<text class=\"ink\" transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
        "font-size=\"14\" fill=\"#222222\">{}</text>\n",
        (top + bottom) / 2.0, escape_markup(figure_.spec.y_label));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0:g} {1:g}\" "
        "width=\"{0:g}\" height=\"{1:g}\" role=\"img\" aria-label=\"{2}\" "
        "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
        "<rect class=\"paper\" width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
        kWidth, bottom + 28.0, escape_markup(figure_.spec.title), body_);
  }

 private:
  static constexpr double kLeft = 74.0;

  void text(double x, double y, std::string_view words, std::string_view anchor, int size,
            std::string_view weight = "normal") {
    body_ += fmt::format(
        "<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\" "
        "font-weight=\"{}\" fill=\"#222222\">{}</text>\n",
        x, y, anchor, size, weight, escape_markup(words));
  }

  void line(double x1, double y1, double x2, double y2, std::string_view css, double width,
            std::string_view color) {
    body_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke=\"{}\" stroke-width=\"{:g}\"/>\n",
        css, x1, y1, x2, y2, color, width);
  }

  void sample(double x, double y, const Style& style) {
    body_ += fmt::format(
        "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"30\" height=\"10\" fill=\"{3}\" "
        "fill-opacity=\"0.18\"/><line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{4:.1f}\" y2=\"{2:.1f}\" "
        "stroke=\"{3}\" stroke-width=\"2.2\" stroke-dasharray=\"{5}\"/>\n",
        x, y - 5.0, y, style.color, x + 30.0, style.dash);
  }

  // Writes one entry of the legend, in a new line where it needs one; returns where its sample
  // goes.
  double place(const std::string& label, double width) {
    const double needs = 46.0 + 7.4 * static_cast<double>(num_characters(label));
    if (legend_x_ + needs > width && legend_x_ > kLeft) {
      legend_x_ = kLeft;
      legend_y_ += 22.0;
    }
    text(legend_x_ + 36.0, legend_y_ + 4.5, label, "start", 13);
    return std::exchange(legend_x_, legend_x_ + needs + 14.0);
  }

  // Returns the height it takes.
  double draw_legend(double width) {
    for (const std::string& label : labels_) {
      const double at = place(figure_.spec.words_for(label), width);
      sample(at, legend_y_, styles_[label]);
    }
    if (has_prediction()) {
      const double at = place("predicted: " + exponent_text(figure_), width);
      body_ += fmt::format(
          "<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#555555\" stroke-width=\"1.4\" stroke-dasharray=\"1 3\"/>\n",
          at, at + 30.0, legend_y_);
    }
    const auto explain = [&](bool hollow, const std::string& words) {
      const double at = place(words, width);
      mark(at + 15.0, legend_y_ + 5.0, Mark::below, "#555555", hollow);
    };
    if (some([&](const MeanInterval& v) {
          return leaves(v, Mark::below) || leaves(v, Mark::above);
        })) {
      explain(false, "interval goes on beyond the axis");
    }
    if (some([&](const MeanInterval& v) { return unseen(v); })) explain(true, "mean of 0 or less");
    return legend_y_ + 18.0;
  }

  [[nodiscard]] double px(const Frame& f, double x) const { return f.left + x_.at(x) * f.width; }
  [[nodiscard]] double py(const Frame& f, double y) const {
    return f.top + (1.0 - y_.at(y)) * f.height;
  }

  void draw_axes(const Panel& panel, const Frame& f, bool y_labels, bool x_labels) {
    if (!panel.label.empty()) {
      text(f.left + f.width / 2.0, f.top - 9.0,
           fmt::format("{} {}", figure_.spec.panel_label, panel.label), "middle", 13, "bold");
    }
    for (const Tick& tick : x_.ticks(f.width / 180.0)) {
      const double at = px(f, tick.value);
      if (tick.label.empty()) {
        line(at, f.top + f.height, at, f.top + f.height + 3.0, "axis", 0.8, "#555555");
        continue;
      }
      line(at, f.top, at, f.top + f.height, "grid", 0.8, "#e2e2e2");
      if (x_labels) text(at, f.top + f.height + 18.0, tick.label, "middle", 12);
    }
    for (const Tick& tick : y_.ticks(f.height / 90.0)) {
      const double at = py(f, tick.value);
      if (tick.label.empty()) {
        line(f.left - 3.0, at, f.left, at, "axis", 0.8, "#555555");
        continue;
      }
      line(f.left, at, f.left + f.width, at, "grid", 0.8, "#e2e2e2");
      if (y_labels) text(f.left - 7.0, at + 4.0, tick.label, "end", 12);
    }
    line(f.left, f.top + f.height, f.left + f.width, f.top + f.height, "axis", 1.0, "#555555");
    line(f.left, f.top, f.left, f.top + f.height, "axis", 1.0, "#555555");
  }

  enum class Mark { below, above };

  // A triangle that points out of the axes.
  void mark(double x, double y, Mark where, std::string_view color, bool hollow) {
    const double tip = where == Mark::below ? 0.0 : -10.0;
    const double base = where == Mark::below ? -6.0 : -4.0;
    body_ += fmt::format(
        "<path class=\"mark\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"1\"/>\n",
        x, y + tip, x - 4.0, y + base, x + 4.0, y + base, hollow ? "none" : color, color);
  }

  [[nodiscard]] bool leaves(const MeanInterval& y, Mark where) const {
    if (!std::isfinite(y.lower) || !std::isfinite(y.upper)) return false;
    const double end = where == Mark::below ? y.lower : y.upper;
    if (!showable(end, figure_.spec.log_y)) return where == Mark::below;
    return where == Mark::below ? y_.at(end) < 0.0 : y_.at(end) > 1.0;
  }

  // A mean that is known, but has no place on the axis.
  [[nodiscard]] bool unseen(const MeanInterval& y) const {
    return std::isfinite(y.mean) && !showable(y.mean, figure_.spec.log_y);
  }

  template <class Condition>
  [[nodiscard]] bool some(const Condition& condition) const {
    for (const Panel& panel : figure_.panels) {
      for (const Series& series : panel.series) {
        for (const SeriesPoint& point : series.points) {
          if (showable(point.x, figure_.spec.log_x) && condition(point.y)) return true;
        }
      }
    }
    return false;
  }

  // Marks at the ends of the axis, not closer to each other than they are wide.
  void draw_marks(const Series& series, const Frame& f, const Style& style) {
    double last[2] = {-1e9, -1e9};
    const auto put = [&](double x, Mark where, bool hollow) {
      double& before = last[where == Mark::below ? 0 : 1];
      if (x - before < 12.0) return;
      before = x;
      mark(x, where == Mark::below ? f.top + f.height : f.top + 10.0, where, style.color, hollow);
    };
    for (const SeriesPoint& point : series.points) {
      if (!showable(point.x, figure_.spec.log_x)) continue;
      const bool hollow = unseen(point.y);
      if (hollow || leaves(point.y, Mark::below)) put(px(f, point.x), Mark::below, hollow);
      if (leaves(point.y, Mark::above)) put(px(f, point.x), Mark::above, false);
    }
  }

  // Stretches of neighbouring points for which the condition holds.
  template <class Condition>
  static std::vector<std::vector<SeriesPoint>> stretches(const Series& series,
                                                         const Condition& condition) {
    std::vector<std::vector<SeriesPoint>> found;
    bool open = false;
    for (const SeriesPoint& point : series.points) {
      const bool holds = condition(point);
      if (holds && !open) found.emplace_back();
      if (holds) found.back().push_back(point);
      open = holds;
    }
    return found;
  }

  // An interval by itself: where neighbours have none, and where the lower end is 0 or less, which
  // has no place on a logarithmic axis. A band from the last positive end down to the axis would
  // show ends that nobody computed.
  void draw_whisker(const SeriesPoint& point, const Frame& f, const Style& style) {
    const bool cut = !showable(point.y.lower, figure_.spec.log_y);
    const double x = px(f, point.x);
    body_ += fmt::format(
        "<path class=\"whisker\" d=\"M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}V{:.1f}\" fill=\"none\" "
        "stroke=\"{}\" stroke-width=\"1.6\" stroke-opacity=\"0.5\"/>\n",
        x - 3.0, py(f, point.y.upper), x + 3.0, x, py(f, point.y.upper),
        cut ? f.top + f.height : py(f, point.y.lower), style.color);
  }

  void draw_band(const Series& series, const Frame& f, const Style& style) {
    const bool log_y = figure_.spec.log_y;
    const auto drawn = [&](const SeriesPoint& point) {
      return showable(point.x, figure_.spec.log_x) && std::isfinite(point.y.lower) &&
             showable(point.y.upper, log_y);
    };
    const auto whole = [&](const SeriesPoint& point) {
      return drawn(point) && showable(point.y.lower, log_y);
    };
    for (const SeriesPoint& point : series.points) {
      if (drawn(point) && !whole(point)) draw_whisker(point, f, style);
    }
    for (const auto& points : stretches(series, whole)) {
      if (points.size() == 1) {
        draw_whisker(points.front(), f, style);
        continue;
      }
      std::string upper;
      std::string lower;
      for (const SeriesPoint& point : points) {
        const double x = px(f, point.x);
        upper += fmt::format("{:.1f},{:.1f} ", x, py(f, point.y.upper));
        lower.insert(0, fmt::format("{:.1f},{:.1f} ", x, py(f, point.y.lower)));
      }
      body_ += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", upper,
                           lower, style.color);
    }
  }

  void draw_curve(const Series& series, const Frame& f, const Style& style) {
    const bool few = series.points.size() <= 30;
    const auto drawn = [&](const SeriesPoint& point) {
      return showable(point.x, figure_.spec.log_x) && showable(point.y.mean, figure_.spec.log_y);
    };
    for (const auto& points : stretches(series, drawn)) {
      const bool visible = few || points.size() == 1;
      std::string path;
      std::string dots;
      for (const SeriesPoint& point : points) {
        const double x = px(f, point.x);
        const double y = py(f, point.y.mean);
        path += fmt::format("{:.1f},{:.1f} ", x, y);
        dots += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" fill-opacity=\"{}\">"
            "<title>{}: {:.4g}{} at {:.6g}</title></circle>\n",
            x, y, visible ? 2.6 : 4.0, style.color, visible ? 1 : 0,
            escape_markup(figure_.spec.words_for(series.label)), point.y.mean,
            interval_text(point.y), point.x);
      }
      body_ += fmt::format(
          "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" "
          "stroke-linejoin=\"round\" stroke-dasharray=\"{}\"/>\n{}",
          path, style.color, style.dash, dots);
    }
  }

  [[nodiscard]] bool has_prediction() const {
    return figure_.spec.predicted && std::isfinite(*figure_.spec.predicted);
  }

  // The predicted power of x through the end of the first curve.
  void draw_prediction(const Panel& panel, const Frame& f) {
    if (!has_prediction() || panel.series.empty() || panel.series.front().points.empty()) return;
    const Series& series = panel.series.front();
    const SeriesPoint& point = series.points.back();
    if (!showable(point.y.mean, true) || !showable(point.x, true)) return;
    std::string path;
    constexpr int kPieces = 60;
    for (int i = 0; i <= kPieces; ++i) {
      const double x = x_.value(static_cast<double>(i) / kPieces);
      if (!(x > 0.0)) continue;
      const double y = point.y.mean * std::pow(x / point.x, *figure_.spec.predicted);
      if (!showable(y, figure_.spec.log_y) || y_.at(y) <= 0.0 || y_.at(y) >= 1.0) continue;
      path += fmt::format("{:.1f},{:.1f} ", px(f, x), py(f, y));
    }
    body_ += fmt::format(
        "<polyline class=\"axis\" points=\"{}\" fill=\"none\" stroke=\"#555555\" "
        "stroke-width=\"1.4\" stroke-dasharray=\"1 3\"/>\n",
        path);
  }

  void draw_panel(const Panel& panel, const Frame& f, bool y_labels, bool x_labels) {
    draw_axes(panel, f, y_labels, x_labels);
    // Lines that leave the axes are cut there, not bent.
    const std::string clip =
        fmt::format("clip-{}-{}", figure_.spec.name, &panel - figure_.panels.data());
    body_ += fmt::format(
        "<clipPath id=\"{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"/></clipPath>\n<g clip-path=\"url(#{})\">\n",
        clip, f.left - 3.0, f.top, f.width + 6.0, f.height, clip);
    draw_prediction(panel, f);
    for (const Series& series : panel.series) draw_band(series, f, styles_[series.label]);
    for (const Series& series : panel.series) draw_curve(series, f, styles_[series.label]);
    body_ += "</g>\n";
    for (const Series& series : panel.series) draw_marks(series, f, styles_[series.label]);
  }

  const FigureData& figure_;
  std::pair<Axis, Axis> axes_;
  const Axis& x_;
  const Axis& y_;
  std::vector<std::string> labels_;
  std::map<std::string, Style> styles_;
  std::string body_;
  double legend_x_ = kLeft;  // where the next entry of the legend goes
  double legend_y_ = 18.0;
};

}  // namespace

std::string chart_svg(const FigureData& figure) { return Chart(figure).draw(); }

}  // namespace oas
