#pragma once

#include <functional>
#include <string>

#include "oas/core/team.hpp"

/// The command as one of several processes that mpirun has started.
namespace oas::cli {

/// Calls `run`; what it throws becomes a message and an exit code.
[[nodiscard]] int run_reporting(const std::function<int()>& run);

/// The same on this rank of a team. Verbs that work in teams run on all ranks, others on rank 0
/// alone. Only rank 0 prints, unless another one fails by itself. `abort` ends all processes.
[[nodiscard]] int run_in_team(Team& team, int argc, char** argv, void (*abort)(int code));

/// The team that verbs share their work with; null: none.
[[nodiscard]] Team* current_team();
/// Whether this process is rank 0 of several, which mpirun shows what it prints for.
[[nodiscard]] bool leads_ranks();
/// Whether this rank only helps: then a verb prints and writes nothing.
[[nodiscard]] bool only_helps();

}  // namespace oas::cli
