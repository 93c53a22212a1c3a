#include "check_report.hpp"

namespace oas::cli {

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
           "runs from the start";
  }
  return "pairs of observations cannot identify the transition model";
}

}  // namespace oas::cli
