#pragma once

#include "oas/core/linear_algebra.hpp"
#include "oas/counts/triple_counts.hpp"

namespace oas::detail {

/// The policy π(a3 | a2,o2) by which the actions of a log depend on the row before, as frequencies.
class LastRowPolicy {
 public:
  explicit LastRowPolicy(const TripleFolder& log);

  /// π(a3 | a2, ·), O entries; 0 where (a2,o) was never seen.
  [[nodiscard]] Vector tilt(int second, int third) const;
  /// How often (a2, ·) was seen, O entries.
  [[nodiscard]] Vector seen(int second) const;

 private:
  int num_actions_;
  int num_observations_;
  Matrix counts_;  // [(a2,o2)][a3]
};

/// Do actions depend on the row before the last one, given the last? Chi-square test of a3 against
/// x1 within every (a2,o2), over cells whose expectation is at least 5. Returns the probability of
/// a statistic as large if they do not; 1 when nothing can be tested. O(cells).
[[nodiscard]] double longer_memory_p_value(const TripleFolder& log);

}  // namespace oas::detail
