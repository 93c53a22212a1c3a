#pragma once

#include <vector>

namespace oas {

/// Mixed observability: a state is a pair (seen part, hidden part), and every observation tells the
/// first (POMDPX variables with fullyObs). Both parts are combinations of their variables in the
/// order of declaration, the last one fastest, as in APPL. Empty: nothing is known to be seen.
struct StateSplit {
  int num_seen = 1;
  int num_hidden = 0;
  std::vector<int> seen;    ///< [S], below num_seen
  std::vector<int> hidden;  ///< [S], below num_hidden

  [[nodiscard]] bool empty() const { return seen.empty(); }

  friend bool operator==(const StateSplit&, const StateSplit&) = default;
};

}  // namespace oas
