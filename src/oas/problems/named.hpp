#pragma once

#include <span>
#include <string_view>

#include "oas/model/pomdp.hpp"

/// Small problems with a story, to try things on: few states, sensors that are noisy but tell the
/// states apart under every action (α above 0.1), every transition possible, rewards in [0, 1], and
/// actions that differ in what they earn now, what they change and what they show. All numbers are
/// invented: plausible orders of magnitude, measured nowhere. The same models lie in models/*.json.
namespace oas {

/// A machine wears out unseen (states new, worn, degraded, failing) while its products tell a
/// little about it. `run` earns most and wears most; `inspect` runs slowly with gauges on, earns
/// less and shows the wear well; `repair` stops production, mostly restores the machine and shows
/// the part that was taken out. Starts new. Timing before, reward by action and state.
[[nodiscard]] Pomdp machine_maintenance();

/// A secondary user may send on two bands of a licensed spectrum. The primary user is quiet or on
/// the low or the high band. `send-low` and `send-high` use full power on one band: fast when it is
/// free, lost when it is not, and a collision makes the primary user repeat itself and stay longer;
/// `send-both` splits the power: slow but seldom lost. The receiver's answer tells from which side
/// it heard noise. Timing before, reward by observation.
[[nodiscard]] Pomdp spectrum_access();

/// A chronic illness is in remission, active or in crisis; the patient's score of the day (good,
/// fair, poor, alarming) is what the doctor sees and what counts. `watch` lets the illness run its
/// course; `mild` slows it; `strong` ends a crisis but has side effects that lower the score of a
/// healthy patient and hide how ill the patient is. Timing before, reward by observation.
[[nodiscard]] Pomdp patient_treatment();

/// A sender shares a link whose load by others (light, moderate, heavy) it cannot see; it sees the
/// answer times and losses of its own packets. `fast` earns most on a light link, causes losses on
/// a heavy one and drives the load up; `slow` always gets something through and lets the load fall;
/// `medium` lies between. Timing before, reward by action and state.
[[nodiscard]] Pomdp network_link();

/// A serving robot should stand at the counter in the middle of a corridor of five cells; people
/// push it about and its wheels slip. After each move (`left`, `stay`, `right`) it looks at the
/// wall and recognises the cell, sometimes a neighbour instead, sometimes nothing; looking is best
/// while it stands still. It is paid for being seen at the counter. Timing after, reward by
/// observation.
[[nodiscard]] Pomdp robot_corridor();

/// A field has few or many pests; traps that are read each week catch none, some or many. `wait`
/// costs only the harvest that pests eat; `spray` costs money, lowers their number and, by driving
/// them out of the plants, fills the traps. The smallest problem: its beliefs are a line. Timing
/// before, reward by action and state.
[[nodiscard]] Pomdp pest_control();

/// One row of the table of named problems, as `oas list` prints it.
struct ProblemInfo {
  std::string_view name;
  std::string_view summary;
  Pomdp (*make)();
};

/// All named problems.
[[nodiscard]] std::span<const ProblemInfo> problems();

/// The problem or corner model (corner_models.hpp) of that name; null: there is none.
[[nodiscard]] const ProblemInfo* find_problem(std::string_view name);

/// The problem or corner model of that name. Throws InvalidArgument listing the names.
[[nodiscard]] Pomdp make_problem(std::string_view name);

}  // namespace oas
