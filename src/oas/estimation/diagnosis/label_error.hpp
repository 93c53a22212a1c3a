#pragma once

#include <span>

namespace oas {

/// By how much the variance of a mean over `rows` readings is larger than chance makes it, because
/// the densities were fitted to `labelled_rows` (0: they are exact). Rows with readings and
/// labelled rows are two samples of the same densities. A mean over N rows has the variance 1/N,
/// and the densities' error adds Σ_s w_s²/L_s, with w_s the share of the rows in state s (`visits`,
/// up to a factor) and L_s its labelled rows; these are taken as equally many in all states. A
/// parametric fit knows more: whoever tests with it errs on the side of silence.
[[nodiscard]] double label_widening(double rows, double labelled_rows,
                                    std::span<const double> visits);

}  // namespace oas
