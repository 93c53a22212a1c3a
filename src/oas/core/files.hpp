#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "oas/core/temporary_files.hpp"

namespace oas {

/// The whole text of a file. Throws InvalidArgument naming the file when it is missing, a folder,
/// unreadable, or larger than `max_bytes`.
[[nodiscard]] std::string read_text_file(const std::string& path,
                                         std::size_t max_bytes = std::size_t{1} << 30);

/// Whether that names standard output: "-" or /dev/stdout.
[[nodiscard]] bool is_standard_output(const std::string& path);

/// Whether what is written to `path` goes there directly and replaces no file: standard output,
/// pipes and devices.
[[nodiscard]] bool is_written_directly(const std::string& path);

/// A file that appears under its name only when it is complete: bytes go to a temporary file beside
/// it, commit() flushes, syncs and renames. Without commit() nothing is left behind and an old file
/// of that name is untouched. Where is_written_directly() there is neither temporary file nor
/// renaming. Write errors (a full disk) throw IoError that names the path.
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
  TemporaryName noted_;    // for signals
  std::FILE* file_ = nullptr;
};

/// Makes a file's new name last through a power cut. Where the system cannot, nothing happens.
void sync_folder_of(const std::string& path);

/// Writes `text` to `path` through an AtomicFile.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace oas
