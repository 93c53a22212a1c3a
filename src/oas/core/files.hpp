#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace oas {

/// The whole text of a file. Throws InvalidArgument naming the file when it is missing, a folder,
/// unreadable, or larger than `max_bytes`.
[[nodiscard]] std::string read_text_file(const std::string& path,
                                         std::size_t max_bytes = std::size_t{1} << 30);

/// A file that appears under its name only when it is complete: bytes go to a temporary file beside
/// it, commit() flushes, syncs and renames. Without commit() nothing is left behind and an old file
/// of that name is untouched. Pipes and devices (/dev/stdout) are written directly. Write errors
/// (a full disk) throw IoError that names the path.
class AtomicFile {
 public:
  /// Throws InvalidArgument when the folder does not exist or cannot be written.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::string path_;
  std::string temporary_;  // empty when written directly
  std::FILE* file_ = nullptr;
};

/// Writes `text` to `path` through an AtomicFile.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace oas
