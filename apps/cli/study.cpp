#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/study/merge_stores.hpp"
#include "oas/study/repair_store.hpp"
#include "oas/study/report.hpp"
#include "oas/study/run_study.hpp"

namespace oas::cli {

namespace {

namespace fs = std::filesystem;

struct StudyArguments {
  Common common;
  std::string study;
  std::string folder;
  std::string task;
  std::string shard;
  std::vector<std::string> parts;
  bool quick = false;
  bool open = false;
  bool no_cache = false;

  [[nodiscard]] OracleCache oracles() const {
    return no_cache ? OracleCache() : OracleCache::of_user();
  }
};

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

// A file, or the name of a study.
std::string find_study(const std::string& name) {
  if (fs::exists(name)) return name;
  for (const fs::path& path : study_files()) {
    if (path.stem() == name) return path.string();
  }
  detail::throw_invalid_argument(
      fmt::format("{}: no such file, and no study of that name (see oas study list)", name));
}

void list(const StudyArguments& options) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::string text;
  for (const StudyEntry& entry : known_studies()) {
    rows.push_back({{"name", entry.name}, {"summary", entry.summary}, {"file", entry.file}});
    text += fmt::format("  {:<18}{}\n", entry.name, entry.summary);
  }
  if (options.common.json) print_json(options.common, rows);
  if (text.empty()) text = "  none: there is no folder studies here\n";
  print(options.common, "studies (oas study run NAME [--quick])\n" + text);
}

// Runs what is not there yet, or those units that are named, and writes the CSV files.
StudyRun run_units(const StudyArguments& options, ResultStore& store,
                   std::optional<std::vector<std::int64_t>> units = std::nullopt) {
  if (captured_output() == nullptr) {  // else signals are those of the program that called
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
  }
  constexpr double kParts = 10'000.0;  // of the progress bar
  Progress bar(options.common, store.study().name, static_cast<std::int64_t>(kParts));
  std::int64_t shown = 0;
  StudyRunOptions run;
  run.units = std::move(units);
  run.parallelism = options.common.parallelism();
  run.oracles = options.oracles();
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

// Digits and nothing else; what is too large for a number is the largest one, which no study has.
std::optional<std::int64_t> whole_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? number : std::numeric_limits<std::int64_t>::max();
}

// "2/8": the second of eight parts.
struct Shard {
  int part = 1;
  int parts = 1;
};

std::optional<Shard> shard_of(const StudyArguments& options) {
  if (options.shard.empty()) return std::nullopt;
  const std::size_t slash = std::min(options.shard.find('/'), options.shard.size());
  const auto part = whole_number(options.shard.substr(0, slash));
  const auto parts =
      slash < options.shard.size() ? whole_number(options.shard.substr(slash + 1)) : std::nullopt;
  constexpr std::int64_t kMostParts = 1'000'000;
  OAS_REQUIRE(part && parts && 1 <= *part && *part <= *parts && *parts <= kMostParts,
              "--shard is '{}'; it is written I/N, 1 <= I <= N: part I of N", options.shard);
  return Shard{static_cast<int>(*part), static_cast<int>(*parts)};
}

std::string default_folder(const Study& study, const std::optional<Shard>& shard) {
  std::string name = study.name + (study.quick ? "-quick" : "");
  if (shard) name += fmt::format("-{}-of-{}", shard->part, shard->parts);
  return (fs::path("results") / name).string();
}

void run_one(const StudyArguments& options) {
  const std::optional<Shard> shard = shard_of(options);
  const Study study = read_study(find_study(options.study), options.quick);
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

void merge(const StudyArguments& options) {
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

void repair(const StudyArguments& options) {
  std::optional<Study> given;
  if (!options.study.empty()) given = read_study(find_study(options.study), options.quick);
  OAS_REQUIRE(!options.quick || given, "--quick goes with --study");
  const StoreRepair found = repair_store(options.folder, given);
  StudyRun result;
  std::int64_t missing = found.missing;
  if (!found.set_aside.empty()) {
    const Study study = given ? *given : ResultStore::open_existing(options.folder).study();
    ResultStore store = ResultStore::open(options.folder, study);
    result = run_units(options, store, found.again);
    missing -= result.finished;
  }
  if (options.common.json) {
    print_json(options.common, {{"folder", options.folder},
                                {"damaged", !found.set_aside.empty()},
                                {"kept", found.kept},
                                {"again", result.finished},
                                {"failed", result.failed},
                                {"missing", missing},
                                {"set_aside", found.set_aside}});
  }
  std::string text =
      found.set_aside.empty()
          ? fmt::format("{}: nothing is damaged, {} tasks are whole\n", options.folder, found.kept)
          : fmt::format("{}: {} tasks are whole, {} were computed again; the damaged file is {}\n",
                        options.folder, found.kept, result.finished, found.set_aside);
  if (missing > 0) {
    text += fmt::format("{} tasks are not there; oas study run goes on with them\n", missing);
  }
  print(options.common, text);
  complain_of_failures(result);
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

void report(const StudyArguments& options) {
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

// A number, or "name#replication".
std::int64_t find_unit(const Study& study, const std::string& task) {
  if (const auto number = whole_number(task)) return study.unit(*number).number;
  const std::size_t mark = task.rfind('#');
  const std::string name = task.substr(0, mark);
  for (std::size_t i = 0; i < study.tasks.size() && mark != std::string::npos; ++i) {
    if (study.tasks[i].name != name) continue;
    const std::optional<std::int64_t> replication = whole_number(task.substr(mark + 1));
    OAS_REQUIRE(replication && *replication < study.replications,
                "{}: '{}' is no replication; there are replications 0 to {}", task,
                task.substr(mark + 1), study.replications - 1);
    return static_cast<std::int64_t>(i) * study.replications + *replication;
  }
  detail::throw_invalid_argument(fmt::format(
      "no task '{}'; give its number in the CSV's column task, or name#replication", task));
}

void replay(const StudyArguments& options) {
  const ResultStore store = ResultStore::open_existing(options.folder);
  const std::int64_t number = find_unit(store.study(), options.task);
  const Unit unit = store.study().unit(number);
  const Replay again = replay_unit(store, number);
  if (options.common.json) print_json(options.common, {{"task", number}, {"equal", again.equal}});
  print(options.common, fmt::format("task {} ({}, replication {}): {} rows, {}\n", number,
                                    store.study().tasks[unit.task].name, unit.replication,
                                    std::count(again.stored.begin(), again.stored.end(), '\n'),
                                    again.equal ? "equal to the byte" : "different"));
  if (!again.equal) {
    throw std::runtime_error(fmt::format("task {} gives other rows than those stored by version {}",
                                         number, store.version()));
  }
}

}  // namespace

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

void add_study(CLI::App& app) {
  CLI::App* study =
      app.add_subcommand("study", "Run experiments described in files, and report on them");
  study->require_subcommand(1);
  const auto options = std::make_shared<StudyArguments>();
  add_verb(*study, "list", "List the studies", options->common, [options] { list(*options); });
  CLI::App* run = add_verb(*study, "run", "Run a study, or continue one that was stopped",
                           options->common, [options] { run_one(*options); });
  run->add_option("STUDY", options->study, "Study file (*.toml) or name")->required();
  run->add_flag("--quick", options->quick, "The small version, for a first look");
  run->add_option("-o,--output", options->folder,
                  "Folder for the results (default: results/NAME or results/NAME-quick)");
  run->add_option(
      "--shard", options->shard,
      "I/N: only part I of N, for machines that share nothing; oas study merge joins them");
  add_cache_flag(*run, options->no_cache);
  CLI::App* join = add_verb(*study, "merge", "Put the results of parts into one folder",
                            options->common, [options] { merge(*options); });
  join->add_option("PART", options->parts, "Folders with results of the same study")->required();
  join->add_option("-o,--output", options->folder,
                   "Folder for all results (default: results/NAME); one that is there is added to");
  CLI::App* write = add_verb(*study, "report", "Write CSV files, figures and one HTML page",
                             options->common, [options] { report(*options); });
  write->add_option("FOLDER", options->folder, "Folder with results")->required();
  write->add_flag("--open", options->open, "Show the page in the browser");
  CLI::App* mend =
      add_verb(*study, "repair", "Keep what is whole of damaged results, compute the rest again",
               options->common, [options] { repair(*options); });
  mend->add_option("FOLDER", options->folder, "Folder with results")->required();
  mend->add_option("--study", options->study,
                   "Study file or name, where the stored one is damaged, too");
  mend->add_flag("--quick", options->quick, "It is the quick version of --study");
  CLI::App* again = add_verb(*study, "replay", "Run one task again and compare it to the byte",
                             options->common, [options] { replay(*options); });
  again->add_option("FOLDER", options->folder, "Folder with results")->required();
  again->add_option("TASK", options->task, "Number of the task, or name#replication")->required();
}

}  // namespace oas::cli
