#pragma once

#include <string>
#include <vector>

/// The command as a function, for programs that are not the command: the Python package calls its
/// verbs, so that options, checks and results are the same.
namespace oas::cli {

/// What a verb would have shown.
struct CommandOutput {
  std::string printed;                ///< to standard output
  std::vector<std::string> warnings;  ///< to standard error, without "warning: "
};

/// Runs "verb argument …" as main() does. Throws what verbs throw, and InvalidArgument where
/// arguments are wrong. Whatever is printed by this thread goes to the result.
[[nodiscard]] CommandOutput run_command(const std::vector<std::string>& words);

/// The same for main(): prints, and returns 0 or, on wrong arguments, 2.
[[nodiscard]] int run_printing(int argc, char** argv);

/// What --version says beside the version; nothing at first.
void set_version_note(const std::string& note);

/// Where this thread prints to, if not to standard output; null: there.
[[nodiscard]] CommandOutput* captured_output();

}  // namespace oas::cli
