#include <fmt/format.h>

#include <exception>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/temporary_files.hpp"
#include "oas/core/version.hpp"

namespace {

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
  add_discretise(app);
  add_filter(app);
  add_score(app);
  add_plan(app);
  add_evaluate(app);
  add_study(app);
  add_learn(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kBadInput;
  }
  // CLI11's own check would say "a subcommand is required" to a misspelt one.
  OAS_REQUIRE(!app.get_subcommands().empty(), "a command is required; see oas --help");
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  oas::remove_temporary_files_on_signals();
  try {
    return run(argc, argv);
  } catch (const oas::InvalidArgument& error) {
    fmt::print(stderr, "oas: {}\n", error.what());
    return oas::cli::kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "oas: {}\n", error.what());
    return oas::cli::kFailed;
  }
}
