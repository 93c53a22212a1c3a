#include "oas/study/chart.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

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

// Values that a logarithmic axis cannot show, single points, no points: never a broken drawing.
TEST(Chart, OddValues) {
  FigureData figure = example_figure();
  figure.spec.predicted = -0.5;
  figure.panels[0].series[0].points = {{1.0, {-1.0, -2.0, 3.0, 2}}};
  figure.panels[0].series[1].points = {{1.0, {2.0, std::nan(""), std::nan(""), 1}}};
  EXPECT_THAT(chart_svg(figure), Not(HasSubstr("nan,")));
  figure.panels.clear();
  EXPECT_THAT(chart_svg(figure), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace oas
