#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "oas/core/markup.hpp"

namespace oas {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// A drawing in the making; y grows downwards, units are pixels.
class Svg {
 public:
  Svg(double width, double height)
      : text_(fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" "
            "height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
            "<rect width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\" stroke=\"none\"/>\n",
            width, height)) {}

  void polygon(const std::vector<Point>& points, std::string_view fill) {
    // The hairline in its own colour closes the seams between neighbours.
    text_ += "<polygon points=\"" + list(points) + '"';
    text_ += fmt::format(
        " fill=\"{0}\" stroke=\"{0}\" stroke-width=\"0.5\" stroke-linejoin=\"round\"/>\n", fill);
  }
  void line(const std::vector<Point>& points, std::string_view color, double width) {
    text_ += "<polyline points=\"" + list(points) + '"';
    text_ += fmt::format(
        " fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\" stroke-linejoin=\"round\"/>\n", color,
        width);
  }
  void dot(Point at, double radius, std::string_view color, double opacity) {
    text_ += fmt::format(
        "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\" fill=\"{}\" "
        "fill-opacity=\"{:g}\" stroke=\"none\"/>\n",
        at.x, at.y, radius, color, opacity);
  }
  void box(Point corner, double width, double height, std::string_view fill) {
    text_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\" stroke=\"none\"/>\n",
        corner.x, corner.y, width, height, fill);
  }
  /// `anchor`: start, middle, end.
  void label(Point at, std::string_view words, std::string_view anchor, double size,
             std::string_view weight = "normal") {
    text_ += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" font-size=\"{:g}\" "
        "font-weight=\"{}\" fill=\"#222222\" stroke=\"none\">{}</text>\n",
        at.x, at.y, anchor, size, weight, escape_markup(words));
  }
  [[nodiscard]] std::string finish() const { return text_ + "</svg>\n"; }

 private:
  static std::string list(const std::vector<Point>& points) {
    std::string out;
    for (const Point& p : points) out += fmt::format("{:.2f},{:.2f} ", p.x, p.y);
    if (!out.empty()) out.pop_back();
    return out;
  }

  std::string text_;
};

}  // namespace oas
