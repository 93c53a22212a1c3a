#pragma once

#include <cstddef>
#include <vector>

#include "oas/estimation/error_bars/detail/profile_likelihood.hpp"

namespace oas::detail {

/// Noise of sensors can make up visits of a state in which the system never was: the maximum of the
/// likelihood then has a row that explains a few unlikely readings, with expected visits and an
/// information of its own. What tells is how much the log-likelihood falls when the row is said
/// never to have been left (PassOptions::never_left) and all others are climbed anew: made-up
/// visits are worth a few units, and each real one adds to that.
///
/// Returns that fall, or what it is before the others are climbed where that is below `enough` or
/// 20 times as much; +∞ when the rows are impossible without the row. `passes` is raised by the
/// passes made, about 30 at most, one where there are many visits.
[[nodiscard]] double fall_without(const Summit& summit, std::size_t row, double enough,
                                  int& passes);

/// [a][s]: whether the visits of a row may be made up: the fall is below log(rows) + 6. Made-up
/// visits can be anywhere in the log, and the best of n places is worth about log n. Rows of less
/// than one visit are not looked at, nor the most visited ones of a log so long that the passes
/// cannot be afforded; nor, with many coordinates, those that were left more than 20 times as often
/// as the fall must be: each place where they are costs something.
[[nodiscard]] std::vector<char> made_up_rows(const Summit& summit,
                                             const std::vector<double>& visits, double rows,
                                             int& passes);

}  // namespace oas::detail
