#pragma once

namespace oas {

/// The least λ with which a noncentral chi-square of that many degrees exceeds, with probability
/// `power`, what a central one exceeds with probability `level`; 0 where `level` is so large that
/// none is needed, as in tests of next to no rows.
[[nodiscard]] double noncentrality_at_level(double degrees, double level, double power);

}  // namespace oas
