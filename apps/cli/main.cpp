#include <fmt/format.h>

#include "cli.hpp"
#include "command.hpp"
#include "oas/backends/ranks.hpp"
#include "oas/core/temporary_files.hpp"
#include "team_command.hpp"

namespace {

constexpr const char* kNoMemory = "oas: there is not enough memory for this\n";

}  // namespace

int main(int argc, char** argv) {
  oas::remove_temporary_files_on_signals();
  oas::end_orderly_without_memory(kNoMemory, oas::cli::kFailed);
  oas::cli::set_version_note(oas::mpi_version());
  const auto tell = [](const std::string& line) { oas::cli::say(fmt::format("oas: {}\n", line)); };
  return oas::cli::run_reporting([&] {
    const std::unique_ptr<oas::Team> team = oas::join_ranks(tell);
    if (!team) return oas::cli::run_printing(argc, argv);
    return oas::cli::run_in_team(*team, argc, argv, oas::abort_ranks);
  });
}
