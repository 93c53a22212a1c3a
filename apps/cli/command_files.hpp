#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli.hpp"

/// The files that a command line names: nothing is read twice or written over what is read.
namespace oas::cli {

/// Declares an option or argument that names files to read; problems' names may stand there too.
template <class Names>
CLI::Option* add_input(CLI::App& verb, const char* name, Names& files, const char* summary,
                       Common& common) {
  CLI::Option* option = verb.add_option(name, files, summary);
  common.inputs.push_back(option);
  return option;
}

/// Declares an option or argument that names logs: files, folders and patterns (log_files()); when
/// the verb runs, `logs` has the files.
CLI::Option* add_logs(CLI::App& verb, const char* name, std::vector<std::string>& logs,
                      const char* summary, Common& common);

/// Whether that names a folder, there or to be made: it ends in a slash.
[[nodiscard]] bool names_folder(const std::string& path);

/// Declares an option or argument that names a file to write. Where it is standard output, what the
/// verb prints goes to standard error.
CLI::Option* add_output(CLI::App& verb, const char* name, std::string& file, const char* summary,
                        Common& common);

/// Throws InvalidArgument when an input is a folder, an output cannot be written, or an output is
/// the same file as an input or as another output. Pipes and devices are never the same; two
/// outputs to standard output are refused. Verbs call this before any work with all files that they
/// declared; a verb that writes others calls it with those.
void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

/// Throws InvalidArgument unless a file for --figure, where one is named, is .svg or .png.
void check_figure(const std::string& figure);

/// Throws InvalidArgument when a log is named twice: its rows would count twice.
void check_different(const std::vector<std::string>& logs);

}  // namespace oas::cli
