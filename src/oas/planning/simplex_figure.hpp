#pragma once

#include <cstdint>
#include <string>

#include "oas/planning/plan.hpp"

namespace oas {

struct FigureOptions {
  std::string title;      ///< empty: none
  int rows = 200;         ///< horizontal lines along which region borders are located, >= 2
  int num_levels = 14;    ///< bands of the bias, >= 2
  int num_beliefs = 400;  ///< beliefs reached in simulation that are drawn as dots; 0: none
  std::uint64_t seed = 1;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// An SVG of what a plan does. Three states: the simplex with the regions of the greedy actions
/// (borders found by bisection of the look-ahead, not read off the grid) and the beliefs that the
/// policy reaches, beside the bias in level bands. Two states: the bias over the probability of the
/// second state above the regions, beside the advantages Q(b,a) - max Q(b,·) of the actions.
/// Colours are told apart by colour-blind readers (Okabe and Ito; viridis). Throws InvalidArgument
/// for other numbers of states.
[[nodiscard]] std::string policy_figure_svg(const Plan& plan, const FigureOptions& options = {});

/// Writes that figure: a name that ends in .png through whichever converter is installed, any other
/// as SVG. The file appears complete or not at all. Throws IoError when there is no converter.
void write_policy_figure(const std::string& path, const Plan& plan,
                         const FigureOptions& options = {});

}  // namespace oas
