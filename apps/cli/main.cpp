#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <sstream>
#include <string>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/temporary_files.hpp"
#include "oas/core/version.hpp"

namespace {

// CLI11 would call a misspelt command an argument that was not expected.
void check_command(const CLI::App& app, std::span<char* const> words, const std::string& typed) {
  const auto known = app.get_subcommands([](const CLI::App*) { return true; });
  if (known.empty()) return;  // arguments follow
  OAS_REQUIRE(!words.empty(), "a command is required; see {} --help", typed);
  const std::string word = words.front();
  if (word.starts_with('-')) return;
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const CLI::App* verb) { return verb->get_name() == word; });
  OAS_REQUIRE(found != known.end(), "unknown command '{}'; see {} --help", word, typed);
  check_command(**found, words.subspan(1), typed + " " + word);
}

// "oas: what is wrong; see oas plan --help".
std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  std::string command = "oas";
  for (auto verbs = app->get_subcommands(); !verbs.empty();
       verbs = verbs.front()->get_subcommands()) {
    command += " " + verbs.front()->get_name();
  }
  return fmt::format("oas: {}; see {} --help\n", error.what(), command);
}

int run(int argc, char** argv) {
  using namespace oas::cli;
  CLI::App app{
      "Learns the hidden dynamics of a partially observed system whose sensors are known."};
  app.name("oas");
  app.set_version_flag("--version", oas::version());
  app.footer("Exit codes: 0 done, 1 the work failed, 2 bad usage or input.");
  add_list(app);
  add_problem(app);
  add_check(app);
  add_simulate(app);
  add_calibrate(app);
  add_estimate(app);
  add_compare(app);
  add_convert(app);
  add_diagnose(app);
  add_discretise(app);
  add_filter(app);
  add_forecast(app);
  add_report(app);
  add_score(app);
  add_plan(app);
  add_evaluate(app);
  add_study(app);
  add_learn(app);
  app.require_subcommand(1);
  app.failure_message(usage_message);
  check_command(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(1), "oas");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;  // --help and --version
    std::ostringstream wrong;
    const int code = app.exit(error, out, wrong);
    say(wrong.str());
    print({}, out.str());
    return code == 0 ? kDone : kBadInput;
  }
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  oas::remove_temporary_files_on_signals();
  try {
    return run(argc, argv);
  } catch (const oas::InvalidArgument& error) {
    oas::cli::say(fmt::format("oas: {}\n", error.what()));
    return oas::cli::kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {  // links in a circle, no right to look
    oas::cli::say(fmt::format("oas: {}: {}\n", error.path1().string(), error.code().message()));
    return oas::cli::kBadInput;
  } catch (const std::bad_alloc&) {
    oas::cli::say("oas: there is not enough memory for this\n");
    return oas::cli::kFailed;
  } catch (const std::exception& error) {
    oas::cli::say(fmt::format("oas: {}\n", error.what()));
    return oas::cli::kFailed;
  }
}
