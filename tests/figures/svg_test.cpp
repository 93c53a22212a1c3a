#include "oas/figures/svg.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "oas/figures/axis.hpp"

namespace oas {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Every shape with every number that is none, in every place: what is drawn says nothing of it.
TEST(Svg, WhatIsNotFiniteIsLeftOut) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    Svg svg(100.0, 100.0);
    for (const Point at : {Point{bad, 1.0}, Point{1.0, bad}}) {
      svg.polygon({at, {2.0, 2.0}}, "red");
      svg.line({at, {2.0, 2.0}}, "red", 1.0);
      svg.area({at, {2.0, 2.0}}, "red", 0.5);
      svg.dot(at, 1.0, "red", 1.0);
      svg.box(at, 1.0, 1.0, "red");
      svg.label(at, "words", "start", 10.0);
      svg.side_label(at, "words", 10.0);
      svg.shade(at, 1.0, 1.0, "red", 0.5);
      svg.rule(at, {1.0, 1.0}, true);
      svg.rule({1.0, 1.0}, at, false);
      svg.curve({1.0, 1.0}, at, {2.0, 2.0}, "red", 1.0);
      svg.node(at, 1.0, "red");
      svg.ring(at, 1.0, "red", 1.0);
    }
    const Point there{1.0, 1.0};
    svg.line({there}, "red", bad);
    svg.area({there}, "red", bad);
    svg.dot(there, bad, "red", 1.0);
    svg.dot(there, 1.0, "red", bad);
    svg.box(there, bad, 1.0, "red");
    svg.shade(there, 1.0, 1.0, "red", bad);
    svg.curve(there, there, there, "red", bad);
    svg.ring(there, 1.0, "red", bad);
    EXPECT_THAT(svg.finish(), Not(ContainsRegex("[\" ,(]-?(nan|inf)")));
    EXPECT_THAT(svg.finish(), HasSubstr("points=\"2.00,2.00\""));
  }
}

// A seed of 2^53 on an axis: no two doubles lie closer than 1 there, and the axis has a length.
TEST(Axis, LargeNumbersNextToEachOtherHaveAPlace) {
  for (const double value : {9007199254740992.0, -9007199254740992.0, 1e300, 5e-324, 0.0}) {
    const Axis axis(value, value, false);
    EXPECT_NEAR(axis.at(value), 0.5, 1e-6) << value;
    for (const Tick& tick : axis.ticks(3.0)) EXPECT_TRUE(std::isfinite(axis.at(tick.value)));
  }
}

}  // namespace
}  // namespace oas
