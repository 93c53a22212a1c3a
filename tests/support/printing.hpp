#pragma once

#include <ostream>

#include "oas/model/reward.hpp"
#include "oas/model/timing.hpp"

/// How GoogleTest and RapidCheck print our enumerations: by name.
namespace oas {

inline void PrintTo(Timing timing, std::ostream* os) { *os << to_string(timing); }

inline void showValue(Timing timing, std::ostream& os) { os << to_string(timing); }

inline void showValue(Reward::Kind kind, std::ostream& os) {
  const char* names[] = {"none", "by_observation", "by_action_state", "by_transition"};
  os << names[static_cast<int>(kind)];
}

}  // namespace oas
