#include "oas/planning/simplex_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/figures/axis.hpp"
#include "oas/figures/level_regions.hpp"
#include "oas/figures/svg.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

// Okabe and Ito without black, then lighter ones; areas are drawn in a lighter tint of the same.
constexpr std::array<const char*, 10> kActionColors = {"#56B4E9", "#E69F00", "#009E73", "#F0E442",
                                                       "#CC79A7", "#0072B2", "#D55E00", "#A6CEE3",
                                                       "#FDBF6F", "#B2DF8A"};
constexpr std::array<std::array<double, 3>, 5> kViridis = {
    {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};

std::string action_color(int action) {
  return kActionColors[static_cast<std::size_t>(action) % kActionColors.size()];
}

std::string tint(const std::string& color) {
  std::string out = "#";
  for (std::size_t k = 1; k < color.size(); k += 2) {
    const int part = std::stoi(color.substr(k, 2), nullptr, 16);
    out += fmt::format("{:02x}", (7 * part + 3 * 255) / 10);
  }
  return out;
}

std::string level_color(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
  std::array<int, 3> rgb;
  for (std::size_t k = 0; k < 3; ++k) {
    const double part = at - static_cast<double>(i);
    rgb[k] =
        static_cast<int>(std::lround((1.0 - part) * kViridis[i][k] + part * kViridis[i + 1][k]));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

std::vector<std::vector<double>> reached_beliefs(const Plan& plan, const FigureOptions& options) {
  std::vector<std::vector<double>> beliefs;
  PlanPolicy policy(plan);
  Environment environment(plan.model, Rng({options.seed, 0, Role::environment}));
  Rng rng({options.seed, 0, Role::agent});
  while (static_cast<int>(beliefs.size()) < options.num_beliefs) {
    beliefs.emplace_back(policy.belief().begin(), policy.belief().end());
    play(environment, policy, rng, 3, [](const Choice&, const Environment::Outcome&) {});
  }
  return beliefs;
}

template <class Fill>
void draw_legend(Svg& svg, const Labels& actions, Point at, double most, const Fill& fill) {
  double x = at.x;
  for (int a = 0; a < actions.size(); ++a) {
    const std::string name = actions.has_names() ? actions[a] : fmt::format("action {}", a);
    const double width = 26.0 + 7.2 * static_cast<double>(name.size());
    if (x > at.x && x + width > at.x + most) {
      x = at.x;
      at.y += 20.0;
    }
    svg.box({x, at.y - 11.0}, 14.0, 14.0, fill(a));
    svg.label({x + 20.0, at.y}, name, "start", 13.0);
    x += width + 10.0;
  }
}

// ---- three states: a triangle --------------------------------------------------------------

constexpr double kSide = 360.0;
const double kHeight = kSide * std::sqrt(3.0) / 2.0;

class Triangle {
 public:
  Triangle(Svg& svg, Point left_corner) : svg_(svg), origin_(left_corner) {}

  [[nodiscard]] Point place(std::span<const double> b) const {
    return {origin_.x + kSide * (b[1] + 0.5 * b[2]), origin_.y - kHeight * b[2]};
  }
  // x along the line of height h.
  static std::array<double, 3> belief(double x, double h) {
    return {(1.0 - h) * (1.0 - x), (1.0 - h) * x, h};
  }

  template <class Label, class Color>
  void regions(int rows, const Label& label, const Color& color) {
    for (const auto& piece : trace_regions(rows, label)) {
      std::vector<Point> outline;
      for (const Point& p : piece.outline) outline.push_back(place(belief(p.x, p.y)));
      svg_.polygon(outline, color(piece.label));
    }
  }

  void frame(const Labels& states, const std::string& caption) {
    const std::array<double, 3> a = {1, 0, 0};
    const std::array<double, 3> b = {0, 1, 0};
    const std::array<double, 3> c = {0, 0, 1};
    for (int k = 1; k < 10; ++k) ticks(0.1 * k);
    svg_.line({place(a), place(b), place(c), place(a)}, "#222222", 1.4);
    const auto name = [&](int s) {
      return states.has_names() ? states[s] : fmt::format("state {}", s);
    };
    svg_.label({place(a).x - 4.0, place(a).y + 20.0}, name(0), "middle", 14.0);
    svg_.label({place(b).x + 4.0, place(b).y + 20.0}, name(1), "middle", 14.0);
    svg_.label({place(c).x, place(c).y - 9.0}, name(2), "middle", 14.0);
    svg_.label({origin_.x + 0.5 * kSide, origin_.y - kHeight - 32.0}, caption, "middle", 15.0,
               "bold");
  }

 private:
  // Short marks every tenth of each edge.
  void ticks(double at) {
    const auto mark = [&](const std::array<double, 3>& b, Point direction) {
      const Point p = place(b);
      svg_.line({p, {p.x + direction.x, p.y + direction.y}}, "#222222", 1.0);
    };
    mark({1.0 - at, at, 0.0}, {0.0, 4.0});
    mark({0.0, 1.0 - at, at}, {3.5, -2.0});
    mark({at, 0.0, 1.0 - at}, {-3.5, -2.0});
  }

  Svg& svg_;
  Point origin_;
};

struct Range {
  double low = 0.0;
  double high = 0.0;
};

// Smallest and largest bias; a flat one gets an artificial width.
Range bias_range(const LookAhead& look_ahead, int samples) {
  Range range{1e300, -1e300};
  for (int i = 0; i <= samples; ++i) {
    for (int j = 0; j <= samples; ++j) {
      const auto b =
          Triangle::belief(static_cast<double>(i) / samples, static_cast<double>(j) / samples);
      const double v =
          look_ahead.num_states() == 2
              ? look_ahead.bias(std::array<double, 2>{1.0 - static_cast<double>(i) / samples,
                                                      static_cast<double>(i) / samples})
              : look_ahead.bias(b);
      range = {std::min(range.low, v), std::max(range.high, v)};
    }
  }
  if (range.high - range.low < 1e-9) range.high = range.low + 1e-9;
  return range;
}

void draw_color_bar(Svg& svg, Point at, const Range& range, int levels) {
  constexpr double kBar = 220.0;
  for (int i = 0; i < levels; ++i) {
    const double top = at.y - kBar * (i + 1) / levels;
    svg.box({at.x, top}, 16.0, kBar / levels + 0.4, level_color((i + 0.5) / levels));
  }
  svg.line({{at.x, at.y},
            {at.x + 16.0, at.y},
            {at.x + 16.0, at.y - kBar},
            {at.x, at.y - kBar},
            {at.x, at.y}},
           "#222222", 1.0);
  const double width = range.high - range.low;
  for (const double tick : round_ticks(0.0, width)) {
    const double y = at.y - kBar * tick / width;
    svg.line({{at.x + 16.0, y}, {at.x + 20.0, y}}, "#222222", 1.0);
    svg.label({at.x + 24.0, y + 4.0}, fmt::format("{:.3g}", tick), "start", 12.0);
  }
}

std::string triangle_figure(const Plan& plan, const FigureOptions& options) {
  const double top = options.title.empty() ? 0.0 : 30.0;
  Svg svg(1000.0, 470.0 + top);
  if (!options.title.empty()) svg.label({500.0, 30.0}, options.title, "middle", 18.0, "bold");
  LookAhead look_ahead(plan);
  Triangle actions(svg, {70.0, 390.0 + top});
  actions.regions(
      options.rows, [&](double x, double h) { return look_ahead.greedy(Triangle::belief(x, h)); },
      [](int action) { return tint(action_color(action)); });
  if (options.num_beliefs > 0) {
    for (const auto& belief : reached_beliefs(plan, options)) {
      svg.dot(actions.place(belief), 1.7, "#000000", 0.45);
    }
  }
  actions.frame(plan.model.states(),
                options.num_beliefs > 0 ? "greedy action, and beliefs reached" : "greedy action");
  draw_legend(svg, plan.model.actions(), {70.0, 442.0 + top}, kSide + 40.0,
              [](int a) { return tint(action_color(a)); });

  const Range range = bias_range(look_ahead, 60);
  Triangle bias(svg, {520.0, 390.0 + top});
  bias.regions(
      options.rows,
      [&](double x, double h) {
        const double share =
            (look_ahead.bias(Triangle::belief(x, h)) - range.low) / (range.high - range.low);
        return std::clamp(static_cast<int>(share * options.num_levels), 0, options.num_levels - 1);
      },
      [&](int level) { return level_color((level + 0.5) / options.num_levels); });
  bias.frame(plan.model.states(), "bias above its minimum");
  draw_color_bar(svg, {912.0, 370.0 + top}, range, options.num_levels);
  return svg.finish();
}

// ---- two states: a line --------------------------------------------------------------------

class Axes {
 public:
  Axes(Svg& svg, Point corner, double width, double height, Range range)
      : svg_(svg), corner_(corner), width_(width), height_(height), range_(range) {}

  [[nodiscard]] Point place(double x, double y) const {
    return {corner_.x + width_ * x,
            corner_.y - height_ * (y - range_.low) / (range_.high - range_.low)};
  }
  void band(double from, double to, const std::string& color) {
    svg_.box({corner_.x + width_ * from, corner_.y - height_}, width_ * (to - from), height_,
             color);
  }
  void frame(const std::string& below, const std::string& caption) {
    svg_.line({{corner_.x, corner_.y},
               {corner_.x + width_, corner_.y},
               {corner_.x + width_, corner_.y - height_},
               {corner_.x, corner_.y - height_},
               {corner_.x, corner_.y}},
              "#222222", 1.4);
    for (int i = 0; i <= 5; ++i) {
      const double x = corner_.x + width_ * i / 5.0;
      svg_.line({{x, corner_.y}, {x, corner_.y + 5.0}}, "#222222", 1.0);
      svg_.label({x, corner_.y + 19.0}, fmt::format("{:g}", i / 5.0), "middle", 12.0);
    }
    for (const double tick : round_ticks(range_.low, range_.high)) {
      const double y = place(0.0, tick).y;
      svg_.line({{corner_.x, y}, {corner_.x - 5.0, y}}, "#222222", 1.0);
      svg_.label({corner_.x - 8.0, y + 4.0}, fmt::format("{:.3g}", tick), "end", 12.0);
    }
    svg_.label({corner_.x + 0.5 * width_, corner_.y + 40.0}, below, "middle", 14.0);
    svg_.label({corner_.x + 0.5 * width_, corner_.y - height_ - 12.0}, caption, "middle", 15.0,
               "bold");
  }

 private:
  Svg& svg_;
  Point corner_;
  double width_;
  double height_;
  Range range_;
};

void draw_advantages(Svg& svg, const Plan& plan, LookAhead& look_ahead, Point corner,
                     const std::string& below) {
  constexpr int kSamples = 400;
  const int num_actions = plan.model.num_actions();
  std::vector<std::vector<double>> curves(static_cast<std::size_t>(num_actions));
  std::vector<double> q(curves.size());
  double low = 0.0;
  for (int i = 0; i <= kSamples; ++i) {
    const double x = static_cast<double>(i) / kSamples;
    look_ahead.action_values(std::array<double, 2>{1.0 - x, x}, q);
    const double best = *std::max_element(q.begin(), q.end());
    for (std::size_t a = 0; a < q.size(); ++a) {
      curves[a].push_back(q[a] - best);
      low = std::min(low, q[a] - best);
    }
  }
  if (low > -1e-9) low = -1e-9;
  Axes axes(svg, corner, 360.0, 280.0, {1.08 * low, -0.08 * low});
  for (std::size_t a = 0; a < curves.size(); ++a) {
    std::vector<Point> points;
    for (int i = 0; i <= kSamples; ++i) {
      points.push_back(axes.place(static_cast<double>(i) / kSamples, curves[a][i]));
    }
    svg.line(points, action_color(static_cast<int>(a)), 2.6);
  }
  axes.frame(below, "advantage of each action");
}

std::string line_figure(const Plan& plan, const FigureOptions& options) {
  const double top = options.title.empty() ? 0.0 : 30.0;
  Svg svg(960.0, 430.0 + top);
  if (!options.title.empty()) svg.label({480.0, 28.0}, options.title, "middle", 18.0, "bold");
  LookAhead look_ahead(plan);
  Range range = bias_range(look_ahead, 200);
  const double margin = 0.06 * (range.high - range.low);
  range = {range.low - margin, range.high + margin};
  Axes axes(svg, {80.0, 340.0 + top}, 360.0, 280.0, range);
  const auto label = [&](double x, double /*h*/) {
    return look_ahead.greedy(std::array<double, 2>{1.0 - x, x});
  };
  for (const auto& piece : trace_regions(options.rows, label)) {
    axes.band(piece.outline.front().x, piece.outline.back().x, tint(action_color(piece.label)));
  }
  std::vector<Point> curve;
  for (int i = 0; i <= 400; ++i) {
    const double x = i / 400.0;
    curve.push_back(axes.place(x, look_ahead.bias(std::array<double, 2>{1.0 - x, x})));
  }
  svg.line(curve, "#ffffff", 4.6);
  svg.line(curve, "#222222", 2.4);
  if (options.num_beliefs > 0) {
    for (const auto& b : reached_beliefs(plan, options)) {
      svg.dot(axes.place(b[1], look_ahead.bias(b)), 2.6, "#000000", 0.35);
    }
  }
  const std::string second =
      plan.model.states().has_names() ? plan.model.states()[1] : std::string("state 1");
  const std::string below = fmt::format("P({})", second);
  axes.frame(below, options.num_beliefs > 0 ? "bias, greedy action and beliefs reached"
                                            : "bias and greedy action");
  draw_legend(svg, plan.model.actions(), {80.0, 412.0 + top}, 360.0,
              [](int a) { return tint(action_color(a)); });
  draw_legend(svg, plan.model.actions(), {550.0, 412.0 + top}, 360.0, action_color);
  draw_advantages(svg, plan, look_ahead, {550.0, 340.0 + top}, below);
  return svg.finish();
}

}  // namespace

void FigureOptions::validate() const {
  OAS_REQUIRE(rows >= 2, "rows is {}; it must be at least 2", rows);
  OAS_REQUIRE(num_levels >= 2, "num_levels is {}; it must be at least 2", num_levels);
  OAS_REQUIRE(num_beliefs >= 0, "num_beliefs is {}; it must not be negative", num_beliefs);
}

std::string policy_figure_svg(const Plan& plan, const FigureOptions& options) {
  options.validate();
  plan.validate();
  OAS_REQUIRE(plan.model.num_states() == 2 || plan.model.num_states() == 3,
              "a policy can be drawn for 2 or 3 states, not for {}", plan.model.num_states());
  return plan.model.num_states() == 3 ? triangle_figure(plan, options) : line_figure(plan, options);
}

}  // namespace oas
