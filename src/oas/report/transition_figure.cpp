#include "oas/report/transition_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "oas/figures/svg.hpp"

namespace oas {

namespace {

constexpr const char* kBlue = "#0072B2";
constexpr const char* kOrange = "#D55E00";
constexpr int kMostNumbers = 12;       // states whose cells have room for numbers
constexpr double kLeastArrow = 0.01;   // probability
constexpr double kLeastUnsure = 0.05;  // where the interval reaches to 0
constexpr double kCharacter = 7.2;     // width at size 13

// One action's rows with their error bars, where there are some.
class DrawnRows {
 public:
  DrawnRows(const Pomdp& model, const std::optional<TransitionEstimate>& estimate, Action action)
      : model_(model), estimate_(estimate), action_(action) {
    OAS_REQUIRE(model.has_transition(), "a model without transition has no dynamics to draw");
  }

  [[nodiscard]] int states() const { return model_.num_states(); }
  [[nodiscard]] std::string name(int s) const { return model_.states()[State{s}]; }
  [[nodiscard]] double value(int s, int next) const {
    return model_.transition()(action_, State{s}, State{next});
  }
  [[nodiscard]] bool has_limits() const { return estimate_ && !estimate_->lower.empty(); }
  [[nodiscard]] double lower(int s, int next) const { return estimate_->lower[entry(s, next)]; }
  [[nodiscard]] double upper(int s, int next) const { return estimate_->upper[entry(s, next)]; }
  [[nodiscard]] bool determined(int s) const {
    return !estimate_ || std::none_of(estimate_->flagged.begin(), estimate_->flagged.end(),
                                      [&](const FlaggedRow& row) {
                                        return row.action == action_ && row.state == State{s};
                                      });
  }
  [[nodiscard]] std::string limits(int s, int next) const {
    return has_limits() ? fmt::format("{:.3f} – {:.3f}", lower(s, next), upper(s, next)) : "";
  }
  // Whether an arrow says more than it hides.
  [[nodiscard]] bool worth_an_arrow(int s, int next) const {
    const bool unsure = has_limits() && !(lower(s, next) > 0.0);
    return value(s, next) >= (unsure ? kLeastUnsure : kLeastArrow);
  }

 private:
  [[nodiscard]] std::size_t entry(int s, int next) const {
    return static_cast<std::size_t>((action_.value() * states() + s) * states() + next);
  }

  const Pomdp& model_;
  const std::optional<TransitionEstimate>& estimate_;
  Action action_;
};

double longest_name(const DrawnRows& rows) {
  double longest = 0.0;
  for (int s = 0; s < rows.states(); ++s) {
    longest = std::max(longest, kCharacter * static_cast<double>(num_characters(rows.name(s))));
  }
  return longest;
}

void draw_cell(Svg& svg, const DrawnRows& rows, int s, int next, Point corner, double width,
               double height) {
  const double p = rows.value(s, next);
  const std::string limits = rows.limits(s, next);
  const bool known = rows.determined(s);
  svg.shade(corner, width - 2.0, height - 2.0, known ? kBlue : "#888888", 0.06 + 0.6 * p,
            fmt::format("{} → {}: {:.4f}{}", rows.name(s), rows.name(next), p,
                        limits.empty() ? "" : ", " + limits));
  if (rows.states() > kMostNumbers) return;
  const double middle = corner.x + 0.5 * width - 1.0;
  const double line = corner.y + 0.5 * height;
  svg.label({middle, limits.empty() ? line + 4.0 : line - 1.0}, fmt::format("{:.3f}", p), "middle",
            14, known && p >= 0.5 ? "bold" : "normal");
  if (!limits.empty()) svg.label({middle, line + 13.0}, limits, "middle", 10.5);
}

Point on_circle(Point centre, double radius, double turn) {
  return {centre.x + radius * std::sin(turn), centre.y - radius * std::cos(turn)};
}

Point unit_vector(Point from, Point to) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  return {(to.x - from.x) / length, (to.y - from.y) / length};
}

void draw_head(Svg& svg, Point tip, Point direction, double width) {
  const double size = 6.0 + 1.2 * width;
  const Point base{tip.x - size * direction.x, tip.y - size * direction.y};
  svg.area({tip,
            {base.x - 0.5 * size * direction.y, base.y + 0.5 * size * direction.x},
            {base.x + 0.5 * size * direction.y, base.y - 0.5 * size * direction.x}},
           kBlue, 1.0);
}

constexpr double kNode = 30.0;  // radius

double width_of(double probability) { return 1.0 + 5.0 * probability; }

// Bends to its right, so that the way back has a line of its own.
void draw_arrow(Svg& svg, Point from, Point to, double probability) {
  const Point along = unit_vector(from, to);
  const Point aside{-along.y, along.x};
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double bend = 0.18 * length;
  const Point by{0.5 * (from.x + to.x) + bend * aside.x, 0.5 * (from.y + to.y) + bend * aside.y};
  const Point out = unit_vector(from, by);
  const Point in = unit_vector(by, to);
  const Point start{from.x + kNode * out.x, from.y + kNode * out.y};
  const Point tip{to.x - kNode * in.x, to.y - kNode * in.y};
  const double width = width_of(probability);
  const double back = 3.0 + 0.6 * width;  // the line ends inside the head
  svg.curve(start, by, {tip.x - back * in.x, tip.y - back * in.y}, kBlue, width);
  draw_head(svg, tip, in, width);
  const double away = 10.0 + 12.0 * std::abs(aside.x);
  const Point label{0.5 * (0.5 * (from.x + to.x) + by.x) + away * aside.x,
                    0.5 * (0.5 * (from.y + to.y) + by.y) + away * aside.y + 4.0};
  svg.label(label, fmt::format("{:.2f}", probability), "middle", 12);
}

void draw_loop(Svg& svg, Point node, Point outward, double probability) {
  constexpr double kLoop = 17.0;
  const Point centre{node.x + (kNode + 0.7 * kLoop) * outward.x,
                     node.y + (kNode + 0.7 * kLoop) * outward.y};
  svg.ring(centre, kLoop, kBlue, width_of(probability));
  svg.label({centre.x + (kLoop + 16.0) * outward.x, centre.y + (kLoop + 14.0) * outward.y + 4.0},
            fmt::format("{:.2f}", probability), "middle", 12);
}

// As much of a name as fits into a node.
std::string short_name(const std::string& name) {
  constexpr std::size_t kFits = 9;
  if (num_characters(name) <= kFits) return name;
  std::string text;
  for (const char c : name) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U && num_characters(text) == kFits - 1)
      break;
    text += c;
  }
  return text + "…";
}

}  // namespace

std::string transition_matrix_svg(const Pomdp& model,
                                  const std::optional<TransitionEstimate>& estimate,
                                  Action action) {
  const DrawnRows rows(model, estimate, action);
  const int states = rows.states();
  const bool numbers = states <= kMostNumbers;
  const double width = numbers ? 104.0 : std::max(6.0, 640.0 / states);
  const double height = numbers ? 46.0 : width;
  const bool names = height >= 12.0;
  const double left = 26.0 + (names ? longest_name(rows) : 60.0);
  const double top = numbers ? 48.0 : 28.0;
  const double note = 110.0;
  Svg svg(left + states * width + note, top + states * height + 12.0,
          "probabilities of " + model.actions()[action]);
  svg.label({left - 8.0, 16.0}, "from", "end", 12);
  svg.label({left, 16.0}, "to", "start", 12);
  for (int s = 0; s < states; ++s) {
    const double y = top + s * height;
    if (numbers) {
      svg.label({left + (s + 0.5) * width, 38.0}, rows.name(s), "middle", 13, "bold");
    }
    if (names) svg.label({left - 8.0, y + 0.5 * height + 4.0}, rows.name(s), "end", 13, "bold");
    for (int next = 0; next < states; ++next) {
      draw_cell(svg, rows, s, next, {left + next * width, y}, width, height);
    }
    if (names && !rows.determined(s)) {
      svg.label({left + states * width + 6.0, y + 0.5 * height + 4.0}, "not determined", "start",
                12);
    }
  }
  return svg.finish();
}

std::string state_graph_svg(const Pomdp& model, const std::optional<TransitionEstimate>& estimate,
                            Action action) {
  const DrawnRows rows(model, estimate, action);
  const int states = rows.states();
  if (states > kMostGraphStates) return {};
  const double radius = states == 1 ? 0.0 : 62.0 + 17.0 * states;
  const double room = 92.0;
  const double size = 2.0 * (radius + room);
  const Point centre{0.5 * size, 0.5 * size};
  Svg svg(size, size, "states under " + model.actions()[action]);
  // Two states stand beside each other, more of them around a circle from the top.
  const auto turn = [&](int s) {
    const double first = states == 2 ? -0.5 * std::numbers::pi : 0.0;
    return first + 2.0 * std::numbers::pi * s / states;
  };
  const auto node = [&](int s) { return on_circle(centre, radius, turn(s)); };
  for (int s = 0; s < states; ++s) {
    for (int next = 0; next < states; ++next) {
      if (!rows.worth_an_arrow(s, next)) continue;
      if (s == next) {
        draw_loop(svg, node(s), on_circle({0.0, 0.0}, 1.0, turn(s)), rows.value(s, s));
      } else {
        draw_arrow(svg, node(s), node(next), rows.value(s, next));
      }
    }
  }
  for (int s = 0; s < states; ++s) {
    svg.node(node(s), kNode, rows.determined(s) ? kBlue : kOrange);
    svg.label({node(s).x, node(s).y + 4.0}, short_name(rows.name(s)), "middle", 11, "bold");
  }
  return svg.finish();
}

}  // namespace oas
