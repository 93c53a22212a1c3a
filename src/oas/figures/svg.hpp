#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/markup.hpp"

namespace oas {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// A drawing in the making; y grows downwards, units are pixels. On a page (html_page) paper and
/// letters take on its colours. What has no place, because a number is not finite, is left out: no
/// drawing says "nan" or "inf".
class Svg {
 public:
  /// `title` is what those are told who cannot see it.
  Svg(double width, double height, std::string_view title = {})
      : text_(
            fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{0:g}\" "
                        "height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
                        "style=\"max-width:{0:g}px;min-width:min({0:g}px,40rem)\" "
                        "role=\"img\" aria-label=\"{2}\" "
                        "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
                        "<rect class=\"paper\" width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\" "
                        "stroke=\"none\"/>\n",
                        width, height, escape_markup(title))) {}

  void polygon(const std::vector<Point>& points, std::string_view fill) {
    // The hairline in its own colour closes the seams between neighbours.
    text_ += "<polygon points=\"" + list(points) + '"';
    text_ += fmt::format(
        " fill=\"{0}\" stroke=\"{0}\" stroke-width=\"0.5\" stroke-linejoin=\"round\"/>\n", fill);
  }
  void line(const std::vector<Point>& points, std::string_view color, double width,
            std::string_view dash = {}) {
    if (!finite(width)) return;
    text_ += "<polyline points=\"" + list(points) + '"';
    text_ += fmt::format(" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"", color, width);
    if (!dash.empty()) text_ += fmt::format(" stroke-dasharray=\"{}\"", dash);
    text_ += " stroke-linejoin=\"round\"/>\n";
  }
  void dot(Point at, double radius, std::string_view color, double opacity) {
    if (!finite(at.x, at.y, radius, opacity)) return;
    text_ += fmt::format(
        "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\" fill=\"{}\" "
        "fill-opacity=\"{:g}\" stroke=\"none\"/>\n",
        at.x, at.y, radius, color, opacity);
  }
  void box(Point corner, double width, double height, std::string_view fill) {
    if (!finite(corner.x, corner.y, width, height)) return;
    text_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\" stroke=\"none\"/>\n",
        corner.x, corner.y, width, height, fill);
  }
  /// `anchor`: start, middle, end.
  void label(Point at, std::string_view words, std::string_view anchor, double size,
             std::string_view weight = "normal") {
    if (!finite(at.x, at.y, size)) return;
    text_ += fmt::format(
        "<text class=\"ink\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" font-size=\"{:g}\" "
        "font-weight=\"{}\" fill=\"#222222\" stroke=\"none\">{}</text>\n",
        at.x, at.y, anchor, size, weight, escape_markup(words));
  }
  /// Along an upright axis: read from below.
  void side_label(Point at, std::string_view words, double size) {
    if (!finite(at.x, at.y, size)) return;
    text_ += fmt::format(
        "<text class=\"ink\" transform=\"translate({:.2f} {:.2f}) rotate(-90)\" "
        "text-anchor=\"middle\" font-size=\"{:g}\" fill=\"#222222\">{}</text>\n",
        at.x, at.y, size, escape_markup(words));
  }
  /// A box that lets the paper through, with words for whoever points at it.
  void shade(Point corner, double width, double height, std::string_view fill, double opacity,
             std::string_view words = {}) {
    if (!finite(corner.x, corner.y, width, height, opacity)) return;
    text_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
        "fill-opacity=\"{:.3f}\" stroke=\"none\"><title>{}</title></rect>\n",
        corner.x, corner.y, width, height, fill, opacity, escape_markup(words));
  }
  /// An area that lets the paper through.
  void area(const std::vector<Point>& points, std::string_view fill, double opacity) {
    if (!finite(opacity)) return;
    text_ += "<polygon points=\"" + list(points) + '"';
    text_ += fmt::format(" fill=\"{}\" fill-opacity=\"{:g}\" stroke=\"none\"/>\n", fill, opacity);
  }
  /// A line of an axis or, fainter, of a grid.
  void rule(Point from, Point to, bool axis) {
    if (!finite(from.x, from.y, to.x, to.y)) return;
    text_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" "
        "stroke=\"{}\" stroke-width=\"1\"/>\n",
        axis ? "axis" : "grid", from.x, from.y, to.x, to.y, axis ? "#555555" : "#dddddd");
  }
  /// A curve from one point to another, drawn towards `by` in between.
  void curve(Point from, Point by, Point to, std::string_view color, double width) {
    if (!finite(from.x, from.y, by.x, by.y, to.x, to.y, width)) return;
    text_ += fmt::format(
        "<path d=\"M {:.2f} {:.2f} Q {:.2f} {:.2f} {:.2f} {:.2f}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"{:.2f}\"/>\n",
        from.x, from.y, by.x, by.y, to.x, to.y, color, width);
  }
  /// A circle that hides what is behind it.
  void node(Point at, double radius, std::string_view color) {
    if (!finite(at.x, at.y, radius)) return;
    text_ += fmt::format(
        "<circle class=\"paper\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\" fill=\"#ffffff\" "
        "stroke=\"{}\" stroke-width=\"2\"/>\n",
        at.x, at.y, radius, color);
  }
  void ring(Point at, double radius, std::string_view color, double width) {
    if (!finite(at.x, at.y, radius, width)) return;
    text_ += fmt::format(
        "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"{:.2f}\"/>\n",
        at.x, at.y, radius, color, width);
  }
  [[nodiscard]] std::string finish() const { return text_ + "</svg>\n"; }

 private:
  template <class... Number>
  static bool finite(Number... numbers) {
    return (std::isfinite(numbers) && ...);
  }
  static std::string list(const std::vector<Point>& points) {
    std::string out;
    for (const Point& p : points) {
      if (finite(p.x, p.y)) out += fmt::format("{:.2f},{:.2f} ", p.x, p.y);
    }
    if (!out.empty()) out.pop_back();
    return out;
  }

  std::string text_;
};

}  // namespace oas
