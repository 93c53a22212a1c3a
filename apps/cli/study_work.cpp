#include "study_work.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/study/merge_stores.hpp"
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

// Folders that may hold study files: here, then beside and above the program, so that it finds them
// in the source tree and where it is installed.
std::vector<fs::path> study_folders() {
  std::vector<fs::path> folders = {"studies"};
  std::error_code error;
  fs::path at = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int up = 0; up < 5 && at.has_relative_path(); ++up, at = at.parent_path()) {
    folders.push_back(at / "share" / "oas" / "studies");
    folders.push_back(at / "studies");
  }
  return folders;
}

// Files of the first folder that has any, by name.
std::vector<fs::path> study_files() {
  std::vector<fs::path> files;
  for (const fs::path& folder : study_folders()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    if (!files.empty()) break;
  }
  std::sort(files.begin(), files.end());
  return files;
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

std::string default_folder(const Study& study, const std::optional<Shard>& shard) {
  std::string name = study.name + (study.quick ? "-quick" : "");
  if (shard) name += fmt::format("-{}-of-{}", shard->part, shard->parts);
  return (fs::path("results") / name).string();
}

void open_page(const StudyArguments& options, const std::string& page) {
  std::string program = "xdg-open";
  std::string argument = page;
  char* words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, words[0], nullptr, nullptr, words, environ) != 0) {
    warn(options.common, "no xdg-open here; open " + page + " in a browser");
  }
}

// An answer of an unfinished study must not be taken for the last word.
std::string answer_line(const Report& report) {
  if (report.missing == 0) return report.answer;
  return fmt::format("unfinished, {} of {} tasks are missing; {}", report.missing, report.tasks,
                     report.answer.empty() ? "no answer yet" : "so far: " + report.answer);
}

}  // namespace

std::string find_study(const std::string& name) {
  if (fs::exists(name)) return name;
  for (const fs::path& path : study_files()) {
    if (path.stem() == name) return path.string();
  }
  detail::throw_invalid_argument(
      fmt::format("{}: no such file, and no study of that name (see oas study list)", name));
}

std::optional<std::int64_t> digits_of(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? number : std::numeric_limits<std::int64_t>::max();
}

// Runs what is not there yet, or those units that are named, and writes the CSV files.
StudyRun run_units(const StudyArguments& options, ResultStore& store,
                   std::optional<std::vector<std::int64_t>> units) {
  if (captured_output() == nullptr) {  // else signals are those of the program that called
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
  }
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
  throw std::runtime_error(
      fmt::format("{} tasks failed; the first: {}", result.failed, result.first_failure));
}

void run_into_folder(const StudyArguments& options, const Study& study) {
  const std::optional<Shard> shard = shard_of(options);
  if (only_helps()) {
    return help_study(study, options.common.parallelism(), options.oracles());
  }
  const std::string folder = options.folder.empty() ? default_folder(study, shard) : options.folder;
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
        fmt::format("{}: {} tasks finished, {} were there before, {} failed, {} remain\n", folder,
                    result.finished, result.skipped, result.failed, result.remaining));
  complain_of_failures(result);
  if (result.remaining > 0) {
    throw std::runtime_error(
        fmt::format("stopped; {} of {} tasks are stored in {}, and the same command goes on from "
                    "there",
                    study.num_units() - result.remaining, study.num_units(), folder));
  }
}

void merge_parts(const StudyArguments& options) {
  const Study study = ResultStore::open_existing(options.parts.front()).study();
  const std::string folder =
      options.folder.empty() ? default_folder(study, std::nullopt) : options.folder;
  ResultStore whole = ResultStore::open(folder, study);
  const StoreMerge merged = merge_stores(whole, options.parts);
  static_cast<void>(write_csv(whole));
  if (options.common.json) {
    print_json(options.common, {{"folder", folder},
                                {"added", merged.added},
                                {"there", merged.there},
                                {"missing", merged.missing}});
  }
  print(options.common, fmt::format("{}: {} tasks added, {} were there before, {} are missing\n",
                                    folder, merged.added, merged.there, merged.missing));
}

void report_folder(const StudyArguments& options) {
  const Report written = write_report(ResultStore::open_existing(options.folder));
  if (!written.pictures_missing.empty()) warn(options.common, written.pictures_missing);
  if (options.common.json) {
    print_json(options.common, {{"report", written.page},
                                {"answer", written.answer},
                                {"tasks", written.tasks},
                                {"missing", written.missing},
                                {"files", written.files}});
  }
  print(options.common, fmt::format("{}\n{}\n", answer_line(written), written.page));
  if (options.open) open_page(options, written.page);
}

void add_shard_option(CLI::App& verb, StudyArguments& options) {
  verb.add_option("--shard", options.shard,
                  "I/N: only part I of N, for machines that share nothing; merge joins them");
}

void add_merge_options(CLI::App& verb, StudyArguments& options) {
  verb.add_option("PART", options.parts, "Folders with results of the same study")->required();
  verb.add_option("-o,--output", options.folder,
                  "Folder for all results (default: results/NAME); one that is there is added to");
}

void add_report_options(CLI::App& verb, StudyArguments& options) {
  verb.add_option("FOLDER", options.folder, "Folder with results")->required();
  verb.add_flag("--open", options.open, "Show the page in the browser");
}

std::vector<StudyEntry> known_studies() {
  std::vector<StudyEntry> entries;
  for (const fs::path& path : study_files()) {
    try {
      const Study study = read_study(path.string());
      entries.push_back({study.name, study.title, path.string()});
    } catch (const std::bad_alloc&) {
      throw;                                 // that is nobody's fault but the system's
    } catch (const std::exception& error) {  // the others are there all the same
      entries.push_back(
          {path.stem().string(), fmt::format("cannot be read: {}", error.what()), path.string()});
    }
  }
  return entries;
}

}  // namespace oas::cli
