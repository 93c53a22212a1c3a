#include "oas/study/known_studies.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "oas/core/contracts.hpp"
#include "oas/study/study.hpp"

namespace oas {

namespace {

namespace fs = std::filesystem;

// Where this code is: in the command, or in a library that another program loaded, as Python does.
std::vector<fs::path> own_folders() {
  static const char here = 0;
  std::error_code error;
  std::vector<fs::path> folders;
  Dl_info info{};
  if (dladdr(&here, &info) != 0 && info.dli_fname != nullptr) {
    const fs::path file = info.dli_fname;  // of the program itself: as it was called
    if (file.has_parent_path()) folders.push_back(fs::absolute(file, error).parent_path());
  }
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path());
  return folders;
}

std::vector<fs::path> study_folders() {
  std::vector<fs::path> folders = {"studies"};
  for (fs::path at : own_folders()) {
    for (int up = 0; up < 5 && at.has_relative_path(); ++up, at = at.parent_path()) {
      folders.push_back(at / "share" / "oas" / "studies");
      folders.push_back(at / "studies");
    }
  }
  return folders;
}

// By name.
std::vector<fs::path> study_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Those of the first folder that has any.
std::vector<fs::path> study_files() {
  for (const fs::path& folder : study_folders()) {
    std::vector<fs::path> files = study_files_in(folder);
    if (!files.empty()) return files;
  }
  return {};
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

std::string find_study(const std::string& name) {
  if (fs::exists(name)) return name;
  for (const fs::path& folder : study_folders()) {  // one's own do not hide those of the program
    for (const fs::path& path : study_files_in(folder)) {
      if (path.stem() == name) return path.string();
    }
  }
  detail::throw_invalid_argument(
      fmt::format("{}: no such file, and no study of that name (see oas study list)", name));
}

}  // namespace oas
