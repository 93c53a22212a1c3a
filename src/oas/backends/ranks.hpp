#pragma once

#include <memory>
#include <string>

#include "oas/core/team.hpp"

/// Teams of processes that mpirun or srun has started. For programs: no other module includes this.
namespace oas {

/// "Open MPI 4.1.4", or "without MPI" where the program was built without it.
[[nodiscard]] std::string mpi_version();

/// The ranks that this process was started with; null: it is alone, or was built without MPI.
/// Called once, first of all. When the value dies, all ranks wait for each other. `tell`: what
/// Team::tell() does on rank 0.
[[nodiscard]] std::unique_ptr<Team> join_ranks(void (*tell)(const std::string& line));

/// Ends all processes of the team at once; the job's exit code is `code`.
[[noreturn]] void abort_ranks(int code);

}  // namespace oas
