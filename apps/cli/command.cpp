#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <span>
#include <sstream>
#include <utility>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/version.hpp"
#include "study_work.hpp"

namespace oas::cli {

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

std::string& version_text() {
  static std::string text = oas::version();
  return text;
}

void add_verbs(CLI::App& app) {
  app.name("oas");
  app.set_version_flag("--version", version_text());
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
  add_bench(app);
  add_learn(app);
  add_agent(app);
  app.require_subcommand(1);
  app.failure_message(usage_message);
}

constexpr const char* kSummary =
    "Learns the hidden dynamics of a partially observed system whose sensors are known.";

thread_local CommandOutput* capture = nullptr;

// While it lives, this thread prints to `output`.
class Capture {
 public:
  explicit Capture(CommandOutput& output) : before_(std::exchange(capture, &output)) {}
  ~Capture() { capture = before_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  CommandOutput* before_;
};

struct Exit {
  int code;
  std::string out;
  std::string wrong;
};

// What CLI11 says at --help and --version. Its streams leave out what there is no memory for, and
// do not say so: what comes out twice is whole.
Exit exit_by(const CLI::App& app, const CLI::Error& reason, bool check = true) {
  std::ostringstream out;
  std::ostringstream wrong;
  const int code = app.exit(reason, out, wrong);
  if (check && exit_by(app, reason, false).out != out.str()) throw std::bad_alloc();
  return {code, out.str(), wrong.str()};
}

}  // namespace

CommandOutput* captured_output() { return capture; }

void set_version_note(const std::string& note) {
  version_text() = fmt::format("{} ({})", oas::version(), note);
}

CommandOutput run_command(const std::vector<std::string>& words) {
  CommandOutput output;
  const Capture captured(output);
  CLI::App app{kSummary};
  add_verbs(app);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& asked) {
    output.printed = exit_by(app, asked).out;
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(error.what());
  }
  return output;
}

int run_printing(int argc, char** argv) {
  CLI::App app{kSummary};
  add_verbs(app);
  check_command(app, std::span(argv, static_cast<std::size_t>(argc)).subspan(1), "oas");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const Exit exit = exit_by(app, error);
    say(exit.wrong);
    print({}, exit.out);
    return exit.code == 0 ? kDone : kBadInput;
  }
  return kDone;
}

}  // namespace oas::cli
