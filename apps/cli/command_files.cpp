#include "command_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"

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

CLI::Option* add_output(CLI::App& verb, const char* name, std::string& file, const char* summary,
                        Common& common) {
  CLI::Option* option = verb.add_option(name, file, summary);
  common.outputs.push_back(option);
  return option;
}

void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (const std::string& input : inputs) {
    OAS_REQUIRE(!fs::is_directory(input), "{}: is a folder, not a file", input);
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

void check_different(const std::vector<std::string>& logs) {
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      OAS_REQUIRE(!same_file(logs[i], logs[j]),
                  "{} and {} are the same log; its rows would count twice", logs[j], logs[i]);
    }
  }
}

}  // namespace oas::cli
