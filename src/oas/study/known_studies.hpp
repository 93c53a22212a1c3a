#pragma once

#include <string>
#include <vector>

namespace oas {

/// One study file that is found here or beside the program.
struct StudyEntry {
  std::string name;
  std::string summary;  ///< its title, or why it cannot be read
  std::string file;
};

/// The studies of the first of these folders that has any: `studies` here, then `studies` and
/// `share/oas/studies` beside and above the file that holds this code (the command, or Python's
/// extension) and the program, so that they are found in the source tree and where they are
/// installed.
[[nodiscard]] std::vector<StudyEntry> known_studies();

/// The file of that name itself, or that of the study of that name among these. Throws
/// InvalidArgument where there is none.
[[nodiscard]] std::string find_study(const std::string& name);

}  // namespace oas
