#pragma once

#include <span>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// Which states can be reached from which, when every action is possible everywhere: the chain of
/// the uniform policy, (1/A) Σ_a T_a, has the same arrows. A class is a largest set of states that
/// can all reach each other; it is closed when no arrow leaves it.
struct CommunicationReport {
  std::vector<int> class_of;       ///< [S], classes numbered from 0
  std::vector<bool> class_closed;  ///< by class
  std::vector<State> unreachable;  ///< cannot be reached from the start
  std::vector<State> absorbing;    ///< T_a(s,s) = 1 for every a; terminal states
  /// Period of the uniform policy's chain in the long run: the least common multiple over closed
  /// classes, 1 when it is aperiodic; kLongestPeriod stands for itself and anything longer.
  long period = 1;
  static constexpr long kLongestPeriod = 1'000'000'000'000'000'000;

  [[nodiscard]] int num_classes() const { return static_cast<int>(class_closed.size()); }
  [[nodiscard]] int num_closed_classes() const;
  /// Every state can reach every other: a long log can show all of T.
  [[nodiscard]] bool strongly_connected() const { return num_classes() == 1; }
  /// One class, no period: the uniform policy's chain forgets where it started.
  [[nodiscard]] bool ergodic() const { return strongly_connected() && period == 1; }

  /// One line for people.
  [[nodiscard]] std::string brief() const;
};

/// Classes (Tarjan 1972), reachability from the states of positive `start` and periods. Entries are
/// arrows when they are positive, however small. O(A S²), by the number of entries when listed.
/// Throws InvalidArgument unless `start` has S entries.
[[nodiscard]] CommunicationReport analyse_communication(const TransitionModel& transition,
                                                        std::span<const double> start);

}  // namespace oas
