#include "oas/study/chart.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

namespace oas {
namespace {

using testing::HasSubstr;
using testing::Not;

FigureData example_figure() {
  FigureData figure;
  figure.spec.title = "Errors <&> \"more\"";
  figure.spec.x_label = "pairs";
  figure.spec.y_label = "error";
  for (const char* label : {"oas-ucrl", "psrl", "something else"}) {
    Series series{label, {}, std::nullopt, std::nullopt};
    for (int i = 1; i < 5; ++i)
      series.points.push_back({100.0 * i, {1.0 / i, 0.5 / i, 2.0 / i, 3}});
    if (figure.panels.empty()) figure.panels.emplace_back();
    figure.panels[0].series.push_back(series);
  }
  return figure;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Chart, OneLineAndOneBandPerSeries) {
  const std::string svg = chart_svg(example_figure());
  EXPECT_EQ(count(svg, "<polyline"), 3U);
  EXPECT_EQ(count(svg, "<polygon"), 3U);
  EXPECT_EQ(count(svg, "<circle"), 12U);
  EXPECT_THAT(svg, HasSubstr("Errors &lt;&amp;&gt; &quot;more&quot;"));
}

TEST(Chart, AnAlgorithmKeepsItsColour) {
  FigureData figure = example_figure();
  const auto color_of = [](const std::string& svg, const std::string& label) {
    const std::size_t at = svg.find("<title>" + label);
    return svg.substr(svg.rfind("fill=\"#", at) + 6, 7);
  };
  const std::string all = chart_svg(figure);
  EXPECT_EQ(color_of(all, "oas-ucrl"), "#0072B2");
  EXPECT_EQ(color_of(all, "psrl"), "#009E73");
  EXPECT_NE(color_of(all, "something else"), color_of(all, "psrl"));
  EXPECT_NE(color_of(all, "something else"), color_of(all, "oas-ucrl"));
  auto& series = figure.panels[0].series;
  series.erase(series.begin());
  std::reverse(series.begin(), series.end());
  EXPECT_EQ(color_of(chart_svg(figure), "psrl"), "#009E73");
}

// A figure of one panel and one series, whose points have x = 10, 100, ….
FigureData figure_of(const std::vector<MeanInterval>& values) {
  FigureData figure;
  figure.spec.name = "f";
  Series series{"oas", {}, std::nullopt, std::nullopt};
  double x = 1.0;
  for (const MeanInterval& y : values) series.points.push_back({x *= 10.0, y});
  figure.panels = {{"", {series}}};
  return figure;
}

// Corners of the first polygon.
std::vector<std::pair<double, double>> band_of(const std::string& svg) {
  std::smatch found;
  std::vector<std::pair<double, double>> corners;
  if (!std::regex_search(svg, found, std::regex("<polygon points=\"([^\"]*)\""))) return corners;
  std::istringstream text(found[1].str());
  double x = 0.0;
  double y = 0.0;
  for (char comma = 0; text >> x >> comma >> y;) corners.emplace_back(x, y);
  return corners;
}

// No number in a drawing may be anything but a number, whatever is drawn: each combination of odd
// values as x, mean and ends of the interval, on all kinds of axes.
TEST(Chart, NothingButFiniteNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  const double odd[] = {std::nan(""), inf, -inf, 0.0, -1.0, 4e-320, 1e308, -1e308, 1.0};
  const std::regex bad("[^a-z](nan|inf)[^a-z]", std::regex::icase);
  for (int axes = 0; axes < 4; ++axes) {
    for (const double predicted : {-0.5, 1e308, std::nan("")}) {
      for (const double x : odd) {
        for (const double mean : odd) {
          Series series{"s", {{2.0, {3.0, 2.0, 4.0, 2}}}, std::nullopt, std::nullopt};
          for (const double lower : odd) {
            for (const double upper : odd) series.points.push_back({x, {mean, lower, upper, 2}});
          }
          FigureData one;
          one.panels = {{"p", {series}}};
          one.spec.log_x = (axes & 1) != 0;
          one.spec.log_y = (axes & 2) != 0;
          one.spec.predicted = predicted;
          const std::string svg = chart_svg(one);
          std::smatch found;
          EXPECT_FALSE(std::regex_search(svg, found, bad))
              << found[0] << " with x " << x << ", mean " << mean << ", axes " << axes;
        }
      }
    }
  }
  FigureData empty = example_figure();
  empty.spec.predicted = -0.5;
  for (Series& series : empty.panels[0].series) series.points.clear();
  EXPECT_FALSE(std::regex_search(chart_svg(empty), bad));
  empty.panels.clear();
  EXPECT_THAT(chart_svg(empty), HasSubstr("</svg>"));
}

// An interval that reaches below 0 has no end on a logarithmic axis. It stands by itself, cut at
// the axis and marked; the band is of its neighbours alone and has no corner that nobody computed.
TEST(Chart, IntervalsBelowZeroAreCutAndMarked) {
  const std::vector<MeanInterval> values = {
      {1.0, 0.8, 1.2, 3}, {1.0, 0.7, 1.3, 3}, {1.0, -0.5, 2.5, 3}, {1.0, 0.9, 1.1, 3}};
  const std::string svg = chart_svg(figure_of(values));
  EXPECT_EQ(count(svg, "<polygon"), 1U);
  const auto corners = band_of(svg);
  ASSERT_EQ(corners.size(), 4U);
  std::smatch found;
  ASSERT_TRUE(
      std::regex_search(svg, found, std::regex("class=\"whisker\".* ([0-9.]+)V([0-9.]+)\"")));
  const double axis = std::stod(found[2].str());
  for (const auto& corner : corners) EXPECT_LT(corner.second, axis - 1.0);
  EXPECT_EQ(count(svg, "class=\"whisker\""), 2U);  // that one, and the lonely one after it
  EXPECT_EQ(count(svg, "class=\"mark\""), 2U);     // in the legend, and at the point
  EXPECT_THAT(svg, HasSubstr("interval goes on beyond the axis"));
  EXPECT_THAT(chart_svg(example_figure()), Not(HasSubstr("class=\"mark\"")));
  FigureData linear = figure_of(values);  // which has room below 0
  linear.spec.log_y = false;
  EXPECT_EQ(band_of(chart_svg(linear)).size(), 8U);
  EXPECT_EQ(count(chart_svg(linear), "class=\"whisker\""), 0U);
}

// A band that is far wider than all means is cut by the axes, which is marked too.
TEST(Chart, IntervalsBeyondTheAxesAreMarked) {
  FigureData figure = figure_of({{1.0, 0.9, 1.1, 3}, {1.0, 1e-6, 1e6, 3}, {1.0, 0.9, 1.1, 3}});
  EXPECT_EQ(count(chart_svg(figure), "class=\"mark\""), 3U);
  figure.spec.log_y = false;  // a linear axis holds every band
  EXPECT_EQ(count(chart_svg(figure), "class=\"mark\""), 0U);
}

TEST(Chart, LinesAreBrokenWhereTheMeanCannotBeShown) {
  const std::string svg = chart_svg(figure_of(
      {{1.0, 0.9, 1.1, 3}, {2.0, 1.9, 2.1, 3}, {-1.0, -2.0, 0.5, 3}, {2.0, 1.9, 2.1, 3}}));
  EXPECT_EQ(count(svg, "<polyline"), 2U);
  EXPECT_THAT(svg, HasSubstr("mean of 0 or less"));
}

// One point alone has a band of no width: its interval is drawn as a line.
TEST(Chart, TheIntervalOfOnePointIsVisible) {
  const std::string svg = chart_svg(figure_of({{1.0, 0.8, 1.2, 3}}));
  EXPECT_EQ(count(svg, "class=\"whisker\""), 1U);
}

TEST(Chart, LabelsAreShownAndColoursKept) {
  FigureData figure = example_figure();
  figure.spec.labels = {{"psrl", "posterior <sampling>"}};
  const std::string svg = chart_svg(figure);
  EXPECT_THAT(svg, HasSubstr(">posterior &lt;sampling&gt;</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>posterior &lt;sampling&gt;: "));
  EXPECT_THAT(svg, Not(HasSubstr("psrl")));
  EXPECT_THAT(svg, HasSubstr("#009E73"));
}

}  // namespace
}  // namespace oas
