#include "oas/problems/named.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::array<ProblemInfo, 6> kProblems = {{
    {"machine-maintenance", "run, inspect or repair a machine that wears out unseen",
     machine_maintenance},
    {"spectrum-access", "send on two bands around a licensed user who comes and goes",
     spectrum_access},
    {"patient-treatment", "treat a chronic illness by the score of the day; drugs hide symptoms",
     patient_treatment},
    {"network-link", "choose a sending rate on a link whose load is hidden", network_link},
    {"robot-corridor", "keep a robot that is pushed about at the counter (timing after)",
     robot_corridor},
    {"pest-control", "wait or spray by what the traps catch; two states", pest_control},
}};

std::string known_names() {
  std::string names;
  for (const ProblemInfo& info : kProblems) {
    names += names.empty() ? "" : ", ";
    names += info.name;
  }
  return names;
}

}  // namespace

std::span<const ProblemInfo> problems() { return kProblems; }

Pomdp make_problem(std::string_view name) {
  const auto* found = std::find_if(kProblems.begin(), kProblems.end(),
                                   [&](const ProblemInfo& info) { return info.name == name; });
  OAS_REQUIRE(found != kProblems.end(), "unknown problem '{}'; known are {}", name, known_names());
  return found->make();
}

}  // namespace oas
