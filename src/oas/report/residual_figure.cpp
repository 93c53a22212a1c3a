#include "oas/report/residual_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oas/core/markup.hpp"
#include "oas/figures/svg.hpp"

namespace oas {

namespace {

constexpr double kUsual = 3.0;  // standard deviations
constexpr double kLine = 20.0;
constexpr double kPlot = 520.0;

}  // namespace

std::string residual_svg(const Pomdp& model, std::span<const ObservationResidual> residuals) {
  double longest = 0.0;
  double most = kUsual + 1.0;
  for (const ObservationResidual& cell : residuals) {
    const auto characters = num_characters(model.actions()[cell.action]) +
                            num_characters(model.observations()[cell.observation]) + 2;
    longest = std::max(longest, static_cast<double>(characters));
    most = std::max(most, std::abs(cell.score()));
  }
  const double left = 20.0 + 7.0 * longest;
  const double top = 30.0;
  const double bottom = top + kLine * static_cast<double>(residuals.size());
  const auto x = [&](double score) { return left + 0.5 * kPlot * (1.0 + score / most); };
  Svg svg(left + kPlot + 190.0, bottom + 12.0, "residuals of observations");
  svg.shade({x(-kUsual), top}, x(kUsual) - x(-kUsual), bottom - top, "#888888", 0.12,
            "between -3 and 3");
  for (const double score : {-kUsual, 0.0, kUsual}) {
    svg.rule({x(score), top}, {x(score), bottom}, score == 0.0);
    svg.label({x(score), top - 8.0}, with_minus(fmt::format("{:g}", score)), "middle", 12);
  }
  double y = top;
  for (const ObservationResidual& cell : residuals) {
    const double score = cell.score();
    const double middle = y + 0.5 * kLine;
    svg.label(
        {left - 8.0, middle + 4.0},
        fmt::format("{}: {}", model.actions()[cell.action], model.observations()[cell.observation]),
        "end", 12);
    svg.dot({x(score), middle}, 4.5, std::abs(score) > kUsual ? "#D55E00" : "#0072B2", 1.0);
    svg.label({left + kPlot + 8.0, middle + 4.0},
              fmt::format("{:.0f} seen, {:.1f} expected", cell.observed, cell.expected), "start",
              12);
    y += kLine;
  }
  return svg.finish();
}

}  // namespace oas
