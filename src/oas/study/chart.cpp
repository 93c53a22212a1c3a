#include "oas/study/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "oas/core/markup.hpp"

namespace oas {

namespace {

// Okabe and Ito, Color Universal Design (2008).
constexpr std::array<std::string_view, 7> kPalette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#8C6D46"};

struct FixedColor {
  std::string_view series;
  std::string_view color;
};
// An algorithm, and the agent built on it, look the same in every figure.
constexpr FixedColor kFixedColors[] = {
    {"oas", "#0072B2"},         {"oas-ucrl", "#0072B2"},
    {"oas-overlap", "#56B4E9"}, {"oas-ucrl-pooled", "#56B4E9"},
    {"oas-ml", "#8C6D46"},      {"oas-ucrl-ml", "#8C6D46"},
    {"pooled-free", "#56B4E9"}, {"ml-free", "#8C6D46"},
    {"psrl-free", "#009E73"},   {"em", "#E69F00"},
    {"oas-soft", "#CC79A7"},    {"oas-weighted", "#E69F00"},
    {"spectral", "#D55E00"},    {"seeu", "#D55E00"},
    {"particle", "#009E73"},    {"psrl", "#009E73"},
    {"sm-ucrl", "#CC79A7"},     {"oracle", "#7F7F7F"},
    {"uniform", "#B0B0B0"},     {"myopic", "#E69F00"},
};

constexpr std::array<std::string_view, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

struct Style {
  std::string color;
  std::string_view dash;
};

// One style per label: fixed colours first, the others from what is left of the palette.
std::map<std::string, Style> styles_of(const std::vector<std::string>& labels) {
  std::map<std::string, Style> styles;
  std::vector<std::string_view> left(kPalette.begin(), kPalette.end());
  for (const std::string& label : labels) {
    for (const FixedColor& fixed : kFixedColors) {
      if (fixed.series != label) continue;
      styles[label].color = fixed.color;
      left.erase(std::remove(left.begin(), left.end(), fixed.color), left.end());
    }
  }
  if (left.empty()) left.assign(kPalette.begin(), kPalette.end());
  std::size_t next = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Style& style = styles[labels[i]];
    if (style.color.empty()) style.color = left[next++ % left.size()];
    style.dash = kDashes[i % kDashes.size()];
  }
  return styles;
}

struct Tick {
  double value;
  std::string label;  // empty: a minor one
};

std::string power_of_ten(int exponent) {
  static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                          "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent >= -2 && exponent <= 3) return fmt::format("{:g}", std::pow(10.0, exponent));
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char c : fmt::format("{}", std::abs(exponent))) {
    text += kDigits[static_cast<std::size_t>(c - '0')];
  }
  return text;
}

// "0.02", "500", "2·10⁴".
std::string number_label(int digit, int exponent) {
  if (exponent >= -3 && exponent <= 3) return fmt::format("{:g}", digit * std::pow(10.0, exponent));
  return fmt::format("{}·{}", digit, power_of_ten(exponent));
}

// One axis: where a value stands between 0 and 1.
class Scale {
 public:
  Scale(double low, double high, bool logarithmic) : log_(logarithmic) {
    low_ = log_ ? std::log10(low) : low;
    high_ = log_ ? std::log10(high) : high;
    if (!(high_ - low_ > 1e-12)) {
      low_ -= 0.5;
      high_ += 0.5;
    }
    const double margin = 0.04 * (high_ - low_);
    low_ -= margin;
    high_ += margin;
  }

  [[nodiscard]] double at(double value) const {
    const double v = log_ ? std::log10(std::max(value, 1e-300)) : value;
    return std::clamp((v - low_) / (high_ - low_), 0.0, 1.0);
  }

  // `room`: how many decades still leave place for labels between them.
  [[nodiscard]] std::vector<Tick> ticks(double room) const {
    return log_ ? log_ticks(room) : linear_ticks();
  }

  [[nodiscard]] double value(double share) const {
    const double v = low_ + share * (high_ - low_);
    return log_ ? std::pow(10.0, v) : v;
  }

 private:
  [[nodiscard]] std::vector<Tick> log_ticks(double room) const {
    std::vector<Tick> ticks;
    const double decades = high_ - low_;
    const int stride = decades > 7.0 ? 2 : 1;
    for (int k = static_cast<int>(std::floor(low_)); k <= high_; ++k) {
      for (int digit = 1; digit < 10; ++digit) {
        const double v = digit * std::pow(10.0, k);
        if (std::log10(v) < low_ || std::log10(v) > high_) continue;
        std::string label;
        if (digit == 1 && k % stride == 0) label = power_of_ten(k);
        const bool named = decades < 0.2 * room || (decades < room && (digit == 2 || digit == 5));
        if (digit > 1 && named) label = number_label(digit, k);
        ticks.push_back({v, label});
      }
    }
    return ticks;
  }

  [[nodiscard]] std::vector<Tick> linear_ticks() const {
    const double raw = (high_ - low_) / 5.0;
    const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10.0 * magnitude;
    for (const double nice : {1.0, 2.0, 5.0}) {
      if (nice * magnitude >= raw) {
        step = nice * magnitude;
        break;
      }
    }
    std::vector<Tick> ticks;
    for (double v = std::ceil(low_ / step) * step; v <= high_; v += step) {
      const double rounded = std::abs(v) < 1e-9 * step ? 0.0 : v;
      ticks.push_back({v, fmt::format("{:.6g}", rounded)});
    }
    return ticks;
  }

  bool log_;
  double low_;
  double high_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool showable(double value, bool logarithmic) {
  return std::isfinite(value) && (!logarithmic || value > 0.0);
}

// Scales hold all means, and the bands as far as they do not squeeze everything else.
std::pair<Scale, Scale> scales_of(const FigureData& figure) {
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
  return {Scale(x.low, x.high, spec.log_x), Scale(y.low, y.high, spec.log_y)};
}

// "exponent −0.5", with a proper minus sign.
std::string exponent_text(const FigureData& figure) {
  const double exponent = *figure.spec.predicted;
  return fmt::format("exponent {}{:g}", exponent < 0.0 ? "−" : "", std::abs(exponent));
}

std::string interval_text(const MeanInterval& y) {
  return std::isfinite(y.lower) ? fmt::format(" [{:.4g}, {:.4g}]", y.lower, y.upper) : "";
}

// Where one panel's axes stand, in pixels.
struct Frame {
  double left, top, width, height;
};

class Chart {
 public:
  explicit Chart(const FigureData& figure)
      : figure_(figure), scales_(scales_of(figure)), x_(scales_.first), y_(scales_.second) {
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
    constexpr double kLeft = 74.0;
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

  // Returns the height it takes.
  double draw_legend(double width) {
    double x = 74.0;
    double y = 18.0;
    const auto place = [&](const std::string& label) {
      const double needs = 46.0 + 7.4 * static_cast<double>(num_characters(label));
      if (x + needs > width && x > 74.0) {
        x = 74.0;
        y += 22.0;
      }
      text(x + 36.0, y + 4.5, label, "start", 13);
      const double at = x;
      x += needs + 14.0;
      return at;
    };
    for (const std::string& label : labels_) {
      const double at = place(label);
      sample(at, y, styles_[label]);
    }
    if (figure_.spec.predicted) {
      const double at = place("predicted: " + exponent_text(figure_));
      body_ += fmt::format(
          "<line class=\"axis\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
          "stroke=\"#555555\" stroke-width=\"1.4\" stroke-dasharray=\"1 3\"/>\n",
          at, y, at + 30.0, y);
    }
    return y + 18.0;
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

  void draw_band(const Series& series, const Frame& f, const Style& style) {
    std::string upper;
    std::string lower;
    for (const SeriesPoint& point : series.points) {
      if (!std::isfinite(point.y.lower) || !showable(point.y.upper, figure_.spec.log_y)) continue;
      const double at = px(f, point.x);
      upper += fmt::format("{:.1f},{:.1f} ", at, py(f, point.y.upper));
      lower.insert(0, fmt::format("{:.1f},{:.1f} ", at, py(f, point.y.lower)));
    }
    if (upper.empty()) return;
    body_ += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.18\"/>\n", upper,
                         lower, style.color);
  }

  void draw_curve(const Series& series, const Frame& f, const Style& style) {
    std::string path;
    std::string dots;
    const bool few = series.points.size() <= 30;
    for (const SeriesPoint& point : series.points) {
      if (!showable(point.y.mean, figure_.spec.log_y)) continue;
      const double x = px(f, point.x);
      const double y = py(f, point.y.mean);
      path += fmt::format("{:.1f},{:.1f} ", x, y);
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" fill-opacity=\"{}\">"
          "<title>{}: {:.4g}{} at {:.6g}</title></circle>\n",
          x, y, few ? 2.6 : 4.0, style.color, few ? 1 : 0, escape_markup(series.label),
          point.y.mean, interval_text(point.y), point.x);
    }
    body_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" "
        "stroke-linejoin=\"round\" stroke-dasharray=\"{}\"/>\n{}",
        path, style.color, style.dash, dots);
  }

  // The predicted power of x through the end of the first curve.
  void draw_prediction(const Panel& panel, const Frame& f) {
    if (!figure_.spec.predicted || panel.series.empty()) return;
    const Series& series = panel.series.front();
    const SeriesPoint& point = series.points.back();
    if (!showable(point.y.mean, true) || !showable(point.x, true)) return;
    std::string path;
    constexpr int kPieces = 60;
    for (int i = 0; i <= kPieces; ++i) {
      const double x = x_.value(static_cast<double>(i) / kPieces);
      if (!(x > 0.0)) continue;
      const double y = point.y.mean * std::pow(x / point.x, *figure_.spec.predicted);
      if (y_.at(y) <= 0.0 || y_.at(y) >= 1.0) continue;
      path += fmt::format("{:.1f},{:.1f} ", px(f, x), py(f, y));
    }
    body_ += fmt::format(
        "<polyline class=\"axis\" points=\"{}\" fill=\"none\" stroke=\"#555555\" "
        "stroke-width=\"1.4\" stroke-dasharray=\"1 3\"/>\n",
        path);
  }

  void draw_panel(const Panel& panel, const Frame& f, bool y_labels, bool x_labels) {
    draw_axes(panel, f, y_labels, x_labels);
    draw_prediction(panel, f);
    for (const Series& series : panel.series) draw_band(series, f, styles_[series.label]);
    for (const Series& series : panel.series) draw_curve(series, f, styles_[series.label]);
  }

  const FigureData& figure_;
  std::pair<Scale, Scale> scales_;
  const Scale& x_;
  const Scale& y_;
  std::vector<std::string> labels_;
  std::map<std::string, Style> styles_;
  std::string body_;
};

}  // namespace

std::string chart_svg(const FigureData& figure) { return Chart(figure).draw(); }

}  // namespace oas
