#include "command_files.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/journal/journal_record.hpp"

namespace oas::cli {

namespace {

namespace fs = std::filesystem;

// The same for all names of a file, whether or not it exists.
fs::path full_name(const std::string& file) { return fs::weakly_canonical(fs::absolute(file)); }

bool same_file(const std::string& a, const std::string& b) {
  if (is_written_directly(a) || is_written_directly(b)) return false;
  std::error_code error;
  return fs::equivalent(a, b, error) || full_name(a) == full_name(b);
}

}  // namespace

CLI::Option* add_logs(CLI::App& verb, const char* name, std::vector<std::string>& logs,
                      const char* summary, Common& common) {
  common.logs.push_back(&logs);
  return verb.add_option(name, logs, summary);
}

bool names_folder(const std::string& path) { return path.ends_with('/') || fs::is_directory(path); }

CLI::Option* add_output(CLI::App& verb, const char* name, std::string& file, const char* summary,
                        Common& common) {
  CLI::Option* option = verb.add_option(name, file, summary);
  common.outputs.push_back(option);
  return option;
}

void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (const std::string& input : inputs) {
    OAS_REQUIRE(!fs::is_directory(input) || holds_journal(input), "{}: is a folder, not a file",
                input);
  }
  OAS_REQUIRE(std::count_if(outputs.begin(), outputs.end(), is_standard_output) <= 1,
              "only one output can go to standard output");
  std::set<fs::path> written;
  for (const std::string& output : outputs) {
    if (is_written_directly(output)) continue;
    static_cast<void>(AtomicFile(output));  // throws where nothing can be written, leaves nothing
    for (const std::string& input : inputs) {
      OAS_REQUIRE(!fs::exists(input) || !same_file(output, input),
                  "{}: is also an input and would be overwritten; choose another name", output);
    }
    OAS_REQUIRE(written.insert(full_name(output)).second,
                "{}: two outputs would be written to this file", output);
  }
}

void check_figure(const std::string& figure) {
  OAS_REQUIRE(figure.empty() || figure.ends_with(".svg") || figure.ends_with(".png"),
              "--figure {}: figures are written as .svg or .png", figure);
}

void check_different(const std::vector<std::string>& logs) {
  std::map<std::pair<dev_t, ino_t>, std::string> known;  // by what the names lead to
  std::map<fs::path, std::string> names;
  for (const std::string& log : logs) {
    if (is_written_directly(log)) continue;
    struct stat info = {};
    auto [name, is_new] = names.try_emplace(full_name(log), log);
    OAS_REQUIRE(is_new, "{} and {} are the same log; its rows would count twice", name->second,
                log);
    if (stat(log.c_str(), &info) != 0) continue;
    const auto [file, first] = known.try_emplace({info.st_dev, info.st_ino}, log);
    OAS_REQUIRE(first, "{} and {} are the same log; its rows would count twice", file->second, log);
  }
}

}  // namespace oas::cli
