#include "oas/backends/ranks.hpp"

#include <cstdlib>

namespace oas {

std::string mpi_version() { return "without MPI"; }

std::unique_ptr<Team> join_ranks(void (* /*tell*/)(const std::string& line)) { return nullptr; }

void abort_ranks(int code) { std::_Exit(code); }

}  // namespace oas
