#include <algorithm>

#include "check_report.hpp"

namespace oas::cli {

// Where all ends sooner or later, a few visits before that are no way to learn a row.
bool can_be_learned(const Identifiability& found, bool connected) {
  if (connected || found.too_large) return found.by_moments() || found.by_likelihood();
  constexpr double kTellsSomething = 0.5;  // of an entry, which lies in [0, 1], in a million steps
  return found.by_likelihood() &&
         std::all_of(found.rows.begin(), found.rows.end(), [](const RowIdentifiability& row) {
           return row.standard_error <= kTellsSomething;
         });
}

std::string verdict(const SensorReport& sensors, bool learnable, bool connected) {
  if (sensors.num_states == 1) return "one state: there is nothing to learn";
  if (learnable && sensors.revealing()) {
    return "every row of the transition model can be learned from logs";
  }
  if (learnable) {
    return "pairs of observations cannot identify the transition model, the likelihood of whole "
           "logs can (oas-ml)";
  }
  if (!connected && sensors.revealing()) {
    return "rows of states that are left for good cannot be learned from one long run; use many "
           "runs from the start (--steps and --runs say how long and how many)";
  }
  return "pairs of observations cannot identify the transition model";
}

}  // namespace oas::cli
