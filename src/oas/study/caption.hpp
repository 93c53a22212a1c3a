#pragma once

#include <string>

#include "oas/study/summary.hpp"

/// What stands under a figure: prose of the study file with the settings of the tasks that were
/// run, so that one caption is true of the full study and of its quick version.
namespace oas {

/// The figure's caption with {replications} and {setting} replaced by what the tasks behind the
/// figure have: "0.2 and 0.8", "1,635,200". Those tasks are of its kind and sweep and obey its
/// `where`.
[[nodiscard]] std::string caption_text(const Study& study, const FigureSpec& spec);

/// Throws InvalidArgument on a caption that names something which no task behind the figure sets.
/// Figures without tasks (left out of the quick version) pass.
void check_captions(const Study& study);

/// What lines, bands, marks and exponents are: "Lines are means over 5 runs of 20,000 steps, …".
/// From the data and from the settings of the tasks alone.
[[nodiscard]] std::string drawing_text(const Study& study, const FigureData& figure);

}  // namespace oas
