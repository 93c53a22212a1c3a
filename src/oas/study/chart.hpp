#pragma once

#include <string>

#include "oas/study/summary.hpp"

namespace oas {

/// A figure as a standing SVG document: one pair of axes per panel, all with the same scales; a
/// line with a 95 % band per series; the legend above, where it covers nothing. Colours are safe
/// for colour-blind readers (Okabe and Ito 2008) and every algorithm has the same one in all
/// figures; dashes tell lines apart in print. Text, paper and grid carry the classes ink, paper and
/// grid, so that a page can recolour them.
[[nodiscard]] std::string chart_svg(const FigureData& figure);

}  // namespace oas
