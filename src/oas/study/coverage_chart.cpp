#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "oas/core/markup.hpp"
#include "oas/study/detail/coverage_report.hpp"

namespace oas::detail {

namespace {

constexpr double kWidth = 960.0;
constexpr double kLeft = 74.0;
constexpr double kRight = 944.0;
constexpr double kHeight = 170.0;   // of a panel
constexpr double kSpacing = 220.0;  // from panel to panel
constexpr double kLeastShown = 0.7;

struct Look {
  Verdict verdict;
  std::string_view color;
};
constexpr Look kLooks[] = {
    {Verdict::pass, "#0072B2"}, {Verdict::open, "#E69F00"}, {Verdict::fail, "#D55E00"}};

std::string_view color_of(Verdict verdict) {
  return std::find_if(std::begin(kLooks), std::end(kLooks),
                      [&](const Look& look) { return look.verdict == verdict; })
      ->color;
}

std::string words(double x, double y, std::string_view anchor, int size, std::string_view text) {
  return fmt::format(
      "<text class=\"ink\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\" "
      "fill=\"#222222\">{}</text>\n",
      x, y, anchor, size, escape_markup(text));
}

std::string level(double y, std::string_view css, std::string_view stroke, std::string_view dash) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
      "stroke-width=\"1\" stroke-dasharray=\"{}\"/>\n",
      css, kLeft, y, kRight, y, stroke, dash);
}

// One estimator's cells, sorted; y from `least` to 1, what lies below at the edge.
std::string panel(const std::vector<const CoverageCell*>& cells, double top, double least) {
  const auto at = [&](double share) {
    return top + kHeight * (1.0 - (std::max(share, least) - least) / (1.0 - least));
  };
  std::string text = words(kLeft, top - 8.0, "start", 13, cells.front()->estimator);
  for (double tick = 1.0; tick > least - 1e-9; tick -= 0.05) {
    text += level(at(tick), "grid", "#e2e2e2", "");
    text += words(kLeft - 7.0, at(tick) + 4.0, "end", 12, fmt::format("{:.2f}", tick));
  }
  text += level(at(0.95), "axis", "#555555", "") + level(at(0.93), "axis", "#555555", "4 3");
  const double apart = (kRight - kLeft) / static_cast<double>(cells.size() + 1);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const CoverageCell& cell = *cells[i];
    const bool known = std::isfinite(cell.entry.share) && std::isfinite(cell.entry.lower) &&
                       std::isfinite(cell.entry.upper);
    if (!known) continue;  // no log of it gave error bars
    text += fmt::format(
        "<g stroke=\"{0}\" fill=\"{0}\"><title>{1}, {2}, {3}, {4} rows: {5:.4f} [{6:.4f}, {7:.4f}] "
        "{8}</title><line x1=\"{9:.1f}\" y1=\"{10:.1f}\" x2=\"{9:.1f}\" y2=\"{11:.1f}\" "
        "stroke-width=\"1.2\"/><circle cx=\"{9:.1f}\" cy=\"{12:.1f}\" r=\"2.8\"/></g>\n",
        color_of(cell.verdict), escape_markup(cell.model), cell.timing, escape_markup(cell.policy),
        cell.rows, cell.entry.share, cell.entry.lower, cell.entry.upper, to_string(cell.verdict),
        kLeft + apart * static_cast<double>(i + 1), at(cell.entry.lower), at(cell.entry.upper),
        at(cell.entry.share));
  }
  return text;
}

std::string legend() {
  std::string text;
  double x = kLeft;
  for (const Look& look : kLooks) {
    text +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"14\" r=\"4\" fill=\"{}\"/>\n", x + 4.0, look.color);
    text += words(x + 14.0, 18.5, "start", 13, to_string(look.verdict));
    x += 70.0;
  }
  return text;
}

}  // namespace

std::string coverage_svg(const std::vector<CoverageCell>& cells) {
  std::vector<std::vector<const CoverageCell*>> panels;
  double least = 0.9;
  for (const CoverageCell& cell : cells) {
    if (!std::isfinite(cell.entry.share)) continue;
    least = std::min(least, std::floor(cell.entry.lower * 20.0) / 20.0);
    least = std::max(least, kLeastShown);
    const auto found = std::find_if(panels.begin(), panels.end(), [&](const auto& panel) {
      return panel.front()->estimator == cell.estimator;
    });
    if (found != panels.end()) {
      found->push_back(&cell);
    } else {
      panels.push_back({&cell});
    }
  }
  std::string body = legend();
  double top = 52.0;
  for (auto& one : panels) {
    std::stable_sort(one.begin(), one.end(), [](const CoverageCell* a, const CoverageCell* b) {
      return a->entry.share < b->entry.share;
    });
    body += panel(one, top, least);
    top += kSpacing;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0:g} {1:g}\" "
      "width=\"{0:g}\" height=\"{1:g}\" role=\"img\" aria-label=\"Coverage by cell\" "
      "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
      "<rect class=\"paper\" width=\"{0:g}\" height=\"{1:g}\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      kWidth, top, body);
}

}  // namespace oas::detail
