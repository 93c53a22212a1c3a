#include "oas/planning/simplex_figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "oas/core/contracts.hpp"
#include "oas/figures/level_regions.hpp"
#include "oas/planning/planner.hpp"
#include "planning/planning_support.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

double area(const std::vector<Point>& outline) {
  double twice = 0.0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point& p = outline[i];
    const Point& q = outline[(i + 1) % outline.size()];
    twice += p.x * q.y - q.x * p.y;
  }
  return std::abs(0.5 * twice);
}

// The pieces cover the square once, and each label gets its true area.
TEST(LevelRegions, AreasAreTheTrueOnes) {
  const auto pieces = trace_regions(
      200, [](double x, double h) { return x * x + h * h < 0.49 ? 0 : (x + h < 1.2 ? 1 : 2); });
  std::map<int, double> areas;
  for (const auto& piece : pieces) areas[piece.label] += area(piece.outline);
  EXPECT_NEAR(areas[0] + areas[1] + areas[2], 1.0, 1e-9);
  EXPECT_NEAR(areas[0], 0.49 * std::acos(-1.0) / 4.0, 3e-3);
  EXPECT_NEAR(areas[2], 0.32, 3e-3);
}

PlanOptions quick() {
  PlanOptions options;
  options.resolution = 12;
  options.simulation.steps = 640;
  return options;
}

TEST(SimplexFigure, TriangleNamesStatesAndActionsEscaped) {
  test::RandomModelOptions sizes;
  sizes.named = true;
  const Plan plan = make_plan(test::random_model(sizes, 1), quick());
  FigureOptions options;
  options.title = "a < b & c";
  options.rows = 30;
  const std::string svg = policy_figure_svg(plan, options);
  EXPECT_THAT(svg, testing::StartsWith("<svg"));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, testing::HasSubstr("a &lt; b &amp; c"));
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos;) {
      text.replace(at, 1, "&quot;");
    }
    return text;
  };
  for (int i = 0; i < 3; ++i) EXPECT_THAT(svg, testing::HasSubstr(escaped(plan.model.states()[i])));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(svg, testing::HasSubstr(escaped(plan.model.actions()[i])));
  }
  EXPECT_EQ(svg, policy_figure_svg(plan, options));
}

TEST(SimplexFigure, LineForTwoStatesErrorForOthers) {
  const Plan line = make_plan(test::replacement_problem(0.1, 0.5), quick());
  EXPECT_THAT(policy_figure_svg(line), testing::HasSubstr("P(state 1)"));
  test::RandomModelOptions four;
  four.num_states = 4;
  const Plan plan = make_plan(test::random_model(four, 1), quick());
  EXPECT_THAT([&] { static_cast<void>(policy_figure_svg(plan)); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("not for 4")));
}

}  // namespace
}  // namespace oas
