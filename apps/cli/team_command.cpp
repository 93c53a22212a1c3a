#include "team_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <new>
#include <span>
#include <system_error>

#include "cli.hpp"
#include "command.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/version.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

Team* team_of_process = nullptr;  // that shares the work of the verb
bool rank_0_of_several = false;

struct Failure {
  std::string text;
  int code = kDone;
};

// A name that leads nowhere is a wrong argument; a system that has run out of something is not.
int code_of(const std::filesystem::filesystem_error& error) {
  for (const std::errc failure :
       {std::errc::not_enough_memory, std::errc::io_error, std::errc::too_many_files_open}) {
    if (error.code() == failure) return kFailed;
  }
  return kBadInput;
}

// What went wrong in `run`, which returns an exit code. Lets Dismissed through.
Failure failure_of(const std::function<int()>& run) {
  try {
    return {{}, run()};
  } catch (const Dismissed&) {
    throw;
  } catch (const InvalidArgument& error) {
    return {with_option_names(error.what()), kBadInput};
  } catch (const std::filesystem::filesystem_error& error) {  // links in a circle, no right to look
    return {fmt::format("{}: {}", error.path1().string(), error.code().message()), code_of(error)};
  } catch (const std::bad_alloc&) {
    return {"there is not enough memory for this", kFailed};
  } catch (const std::exception& error) {
    return {error.what(), kFailed};
  }
}

bool works_in_teams(std::span<char* const> words) {
  constexpr std::array<std::string_view, 3> kVerbs = {"estimate", "learn", "simulate"};
  constexpr std::array<std::string_view, 2> kRunning = {"bench", "study"};
  const auto is_among = [](std::string_view word, std::span<const std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  if (words.empty()) return false;
  const bool runs = words.size() > 1 && std::string_view(words[1]) == "run";
  return (is_among(words[0], kVerbs) || (runs && is_among(words[0], kRunning))) &&
         std::none_of(words.begin(), words.end(), [](std::string_view word) {
           return word == "--help" || word == "-h" || word == "--settings";
         });
}

// Ranks with other programs or libraries would give other digits.
std::string build_of_rank() {
  return fmt::format("oas {}, {}, {}", version(), maths_library().name,
                     maths_library().fingerprint);
}

int lead(Team& team, const std::function<int()>& run, void (*abort)(int code)) {
  static_cast<void>(team.broadcast(build_of_rank()));
  const int code = run_reporting(run);
  if (team.broken()) abort(code);
  team.dismiss();
  return code;
}

// What goes wrong here goes wrong on rank 0 too, which says so; unless it asks for help after all.
void help(Team& team, const std::function<int()>& run, void (*abort)(int code)) {
  const std::string build = team.broadcast({});
  Failure failure = failure_of([&] {
    if (build != build_of_rank()) {
      throw std::runtime_error(fmt::format("{}, but rank 0 is {}", build_of_rank(), build));
    }
    return run();
  });
  if (!team.broken()) {
    const std::string order = team.order();
    if (failure.code == kDone) failure = {fmt::format("there is no help for '{}'", order), kFailed};
  }
  say(fmt::format("oas: rank {}: {}\n", team.rank(), failure.text));
  abort(failure.code);
}

}  // namespace

Team* current_team() { return team_of_process; }

bool leads_ranks() { return rank_0_of_several; }

bool only_helps() { return team_of_process != nullptr && !team_of_process->leads(); }

int run_reporting(const std::function<int()>& run) {
  const Failure failure = failure_of(run);
  if (!failure.text.empty()) say(fmt::format("oas: {}\n", failure.text));
  return failure.code;
}

int run_in_team(Team& team, int argc, char** argv, void (*abort)(int code)) {
  const auto words = std::span<char* const>(argv, static_cast<std::size_t>(argc)).subspan(1);
  const bool together = works_in_teams(words);
  if (together) team_of_process = &team;
  rank_0_of_several = team.leads() && team.size() > 1;
  if (team.leads()) {
    return lead(
        team,
        [&] {
          if (!together) team.tell("this command runs on rank 0 alone");
          return run_printing(argc, argv);
        },
        abort);
  }
  try {
    const auto run = [&] {
      if (together) static_cast<void>(run_command({words.begin(), words.end()}));
      return kDone;
    };
    help(team, run, abort);
  } catch (const Dismissed&) {  // as it should be
  }
  return kDone;
}

}  // namespace oas::cli
