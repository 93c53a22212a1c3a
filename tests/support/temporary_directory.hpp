#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace oas::test {

/// A new empty folder that vanishes with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The path of a file in it, whether or not it exists.
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Names of all that is in it, sorted.
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::filesystem::path path_;
};

/// Whole contents and direct writing, independent of the library under test.
[[nodiscard]] std::string slurp(const std::string& path);
void spill(const std::string& path, const std::string& text);

}  // namespace oas::test
