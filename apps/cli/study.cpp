#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "oas/core/contracts.hpp"
#include "oas/study/known_studies.hpp"
#include "oas/study/repair_store.hpp"
#include "oas/study/result_store.hpp"
#include "oas/study/run_study.hpp"
#include "study_work.hpp"

namespace oas::cli {

namespace {

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
    text += fmt::format("{} tasks are missing; oas study run goes on with them\n", missing);
  }
  print(options.common, text);
  complain_of_failures(result);
}

// A number, or "name#replication".
std::int64_t find_unit(const Study& study, const std::string& task) {
  if (const auto number = digits_of(task)) return study.unit(*number).number;
  const std::size_t mark = task.rfind('#');
  const std::string name = task.substr(0, mark);
  for (std::size_t i = 0; i < study.tasks.size() && mark != std::string::npos; ++i) {
    if (study.tasks[i].name != name) continue;
    const std::optional<std::int64_t> replication = digits_of(task.substr(mark + 1));
    OAS_REQUIRE(replication && *replication < study.replications,
                "{}: '{}' is not a replication; there are replications 0 to {}", task,
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
  const std::unique_ptr<StrayKeeper> keeper = keep_strays();
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

void add_study(CLI::App& app) {
  CLI::App* study =
      app.add_subcommand("study", "Run experiments described in files, and report on them");
  study->require_subcommand(1);
  const auto options = std::make_shared<StudyArguments>();
  add_verb(*study, "list", "List the studies", options->common, [options] { list(*options); });
  CLI::App* run = add_verb(
      *study, "run", "Run a study, or continue one that was stopped", options->common, [options] {
        run_into_folder(*options, read_study(find_study(options->study), options->quick));
      });
  run->add_option("STUDY", options->study, "Study file (*.toml) or name")->required();
  run->add_flag("--quick", options->quick, "The small version, for a first look");
  run->add_option("-o,--output", options->folder,
                  "Folder for the results (default: results/NAME or results/NAME-quick)");
  add_shard_option(*run, *options);
  add_cache_flag(*run, options->no_cache);
  CLI::App* join = add_verb(*study, "merge", "Put the results of parts into one folder",
                            options->common, [options] { merge_parts(*options); });
  add_merge_options(*join, *options);
  CLI::App* write = add_verb(*study, "report", "Write CSV files, figures and one HTML page",
                             options->common, [options] { report_folder(*options); });
  add_report_options(*write, *options);
  CLI::App* mend = add_verb(
      *study, "repair", "Keep the undamaged part of damaged results, and compute the rest again",
      options->common, [options] { repair(*options); });
  mend->add_option("FOLDER", options->folder, "Folder with results")->required();
  mend->add_option("--study", options->study,
                   "Study file or name, if the stored one is damaged, too");
  mend->add_flag("--quick", options->quick,
                 "The results are those of the quick version of --study");
  CLI::App* again = add_verb(*study, "replay", "Run one task again and compare it to the byte",
                             options->common, [options] { replay(*options); });
  again->add_option("FOLDER", options->folder, "Folder with results")->required();
  again->add_option("TASK", options->task, "Number of the task, or name#replication")->required();
}

}  // namespace oas::cli
