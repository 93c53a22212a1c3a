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

constexpr double kPanelWidth = 300.0;
constexpr double kPanelHeight = 130.0;
constexpr double kPanelGap = 56.0;
constexpr std::size_t kPanelsInARow = 2;

// Bars of one component, their band and the height that is expected.
void draw_places(Svg& svg, Point corner, const ReadingPlaces& places, std::size_t bars) {
  const PlaceBand band = place_band(places, bars);
  const double most =
      1.1 * std::max(band.high, *std::max_element(places.counts.begin(), places.counts.end()));
  const double bottom = corner.y + kPanelHeight;
  const auto height = [&](double count) { return kPanelHeight * count / most; };
  svg.label({corner.x, corner.y - 8.0},
            fmt::format("{}, {:.0f} readings", places.name, places.rows), "start", 12, "bold");
  svg.shade({corner.x, bottom - height(band.high)}, kPanelWidth, height(band.high - band.low),
            "#888888", 0.25, fmt::format("{:.0f} to {:.0f}", band.low, band.high));
  const double width = kPanelWidth / static_cast<double>(places.counts.size());
  for (std::size_t bin = 0; bin < places.counts.size(); ++bin) {
    const double count = places.counts[bin];
    svg.shade({corner.x + width * (static_cast<double>(bin) + 0.1), bottom - height(count)},
              0.8 * width, height(count), band.holds(count) ? "#0072B2" : "#D55E00", 0.85,
              fmt::format("{:.0f} readings, {:.1f} expected", count, places.expected()));
  }
  const double even = bottom - height(places.expected());
  svg.rule({corner.x, even}, {corner.x + kPanelWidth, even}, true);
  svg.rule({corner.x, bottom}, {corner.x + kPanelWidth, bottom}, true);
  for (const double share : {0.0, 0.5, 1.0}) {
    svg.label({corner.x + kPanelWidth * share, bottom + 16.0}, fmt::format("{:.0f} %", 100 * share),
              "middle", 12);
  }
}

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

std::string reading_places_svg(std::span<const ReadingPlaces> places) {
  const std::size_t across = std::min(places.size(), kPanelsInARow);
  const std::size_t down = (places.size() + kPanelsInARow - 1) / kPanelsInARow;
  const double left = 24.0;
  Svg svg(left + static_cast<double>(across) * (kPanelWidth + kPanelGap),
          static_cast<double>(down) * (kPanelHeight + kPanelGap) + 14.0,
          "where readings fell within predictions");
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Point corner{left + static_cast<double>(i % kPanelsInARow) * (kPanelWidth + kPanelGap),
                       30.0 + static_cast<double>(i / kPanelsInARow) * (kPanelHeight + kPanelGap)};
    draw_places(svg, corner, places[i], places.size() * places[i].counts.size());
  }
  return svg.finish();
}

}  // namespace oas
