#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "oas/study/merge_stores.hpp"
#include "oas/study/report.hpp"
#include "study_work.hpp"

namespace oas::cli {

namespace {

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

void merge_parts(const StudyArguments& options) {
  const Study study = ResultStore::open_existing(options.parts.front()).study();
  const std::string folder = options.folder.empty() ? default_folder(study) : options.folder;
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

void add_merge_options(CLI::App& verb, StudyArguments& options) {
  verb.add_option("PART", options.parts, "Folders with results of the same study")->required();
  verb.add_option("-o,--output", options.folder,
                  "Folder for all results (default: results/NAME); one that exists is "
                  "added to");
}

void add_report_options(CLI::App& verb, StudyArguments& options) {
  verb.add_option("FOLDER", options.folder, "Folder with results")->required();
  verb.add_flag("--open", options.open, "Show the page in the browser");
}

}  // namespace oas::cli
