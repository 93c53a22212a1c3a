#include "oas/problems/named.hpp"

#include <array>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/problems/corner_models.hpp"

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

const ProblemInfo* find_problem(std::string_view name) {
  for (const std::span<const ProblemInfo> table : {problems(), corner_models()}) {
    for (const ProblemInfo& info : table) {
      if (info.name == name) return &info;
    }
  }
  return nullptr;
}

Pomdp make_problem(std::string_view name) {
  const ProblemInfo* found = find_problem(name);
  OAS_REQUIRE(found != nullptr, "unknown problem '{}'; known are {}, and {} more of oas list", name,
              known_names(), corner_models().size());
  return found->make();
}

}  // namespace oas
