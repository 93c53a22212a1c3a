#include "study_work.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/study/report.hpp"

namespace oas::cli {

namespace {

namespace fs = std::filesystem;

std::atomic<bool> stop_requested{false};

// A second signal ends the program at once; what is stored stays whole even so.
extern "C" void request_stop(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

// "2/8": the second of eight parts.
struct Shard {
  int part = 1;
  int parts = 1;
};

std::optional<Shard> shard_of(const StudyArguments& options) {
  if (options.shard.empty()) return std::nullopt;
  const std::size_t slash = std::min(options.shard.find('/'), options.shard.size());
  const std::int64_t part = digits_of(options.shard.substr(0, slash)).value_or(0);
  const std::int64_t parts =
      slash < options.shard.size() ? digits_of(options.shard.substr(slash + 1)).value_or(0) : 0;
  constexpr std::int64_t kMostParts = 1'000'000;
  OAS_REQUIRE(1 <= part && part <= parts && parts <= kMostParts,
              "--shard is '{}'; it is written I/N, 1 <= I <= N: part I of N", options.shard);
  return Shard{static_cast<int>(part), static_cast<int>(parts)};
}

}  // namespace

std::string default_folder(const Study& study) {
  return (fs::path("results") / (study.name + (study.quick ? "-quick" : ""))).string();
}

std::optional<std::int64_t> digits_of(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? number : std::numeric_limits<std::int64_t>::max();
}

std::unique_ptr<StrayKeeper> keep_strays() {
  return captured_output() == nullptr ? std::make_unique<StrayKeeper>() : nullptr;
}

// Runs what is not there yet, or those units that are named, and writes the CSV files.
StudyRun run_units(const StudyArguments& options, ResultStore& store,
                   std::optional<std::vector<std::int64_t>> units) {
  if (captured_output() == nullptr) {  // else signals are those of the program that called
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
    if (std::signal(SIGHUP, request_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  }
  const std::unique_ptr<StrayKeeper> keeper = keep_strays();
  constexpr double kParts = 10'000.0;  // of the progress bar
  Progress bar(options.common, store.study().name, static_cast<std::int64_t>(kParts));
  std::int64_t shown = 0;
  StudyRunOptions run;
  run.oracles = options.oracles();
  run.units = std::move(units);
  run.parallelism = options.common.parallelism();
  run.stop = [flag = current_stop_flag()] {
    return stop_requested.load() || (flag != nullptr && flag->load());
  };
  run.progress = [&](const StudyProgress& progress) {
    const auto now = static_cast<std::int64_t>(progress.work_done * kParts);
    bar.add(now - shown);
    shown = now;
  };
  StudyRun result = run_study(store, run);
  static_cast<void>(write_csv(store));
  check_interrupted();
  return result;
}

void complain_of_failures(const StudyRun& result) {
  if (result.failed == 0) return;
  throw std::runtime_error(fmt::format("{} {} failed; the first: {}", result.failed,
                                       plural(result.failed, "task"), result.first_failure));
}

void run_into_folder(const StudyArguments& options, const Study& study) {
  const std::optional<Shard> shard = shard_of(options);
  if (only_helps()) {
    const std::unique_ptr<StrayKeeper> keeper = keep_strays();
    return help_study(study, options.common.parallelism(), options.oracles());
  }
  std::string folder = options.folder.empty() ? default_folder(study) : options.folder;
  if (shard && options.folder.empty()) {
    folder += fmt::format("-{}-of-{}", shard->part, shard->parts);
  }
  std::optional<std::vector<std::int64_t>> units;
  if (shard) units = units_of_part(study, shard->part, shard->parts);
  ResultStore store = ResultStore::open(folder, study);
  const StudyRun result = run_units(options, store, units);
  if (options.common.json) {
    print_json(options.common, {{"study", study.name},
                                {"folder", folder},
                                {"skipped", result.skipped},
                                {"finished", result.finished},
                                {"failed", result.failed},
                                {"remaining", result.remaining}});
  }
  print(options.common,
        fmt::format("{}: {} {} finished, {} were there before, {} failed, {} remain\n", folder,
                    result.finished, plural(result.finished, "task"), result.skipped, result.failed,
                    result.remaining));
  complain_of_failures(result);
  if (result.remaining > 0) {
    const std::int64_t stored = result.skipped + result.finished;
    throw std::runtime_error(fmt::format(
        "stopped; {} of {} tasks{} are stored in {}, and the same command goes on from there",
        stored, stored + result.remaining, shard ? " of this part" : "", folder));
  }
}

void add_shard_option(CLI::App& verb, StudyArguments& options) {
  verb.add_option("--shard", options.shard,
                  "I/N: only part I of N, for machines that share nothing; merge joins them");
}

}  // namespace oas::cli
