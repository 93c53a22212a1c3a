#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "oas/core/temporary_files.hpp"

namespace oas {

/// Throws "what: why", `error` being an errno: IoError where the system has run out of memory,
/// space or open files or a device fails, else InvalidArgument, since the name is wrong.
[[noreturn]] void throw_cannot_open(const std::string& what, int error);

/// The whole text of a file. Throws InvalidArgument naming the file when it is missing, a folder,
/// one that may not be read, or larger than `max_bytes`; IoError when reading fails.
[[nodiscard]] std::string read_text_file(const std::string& path,
                                         std::size_t max_bytes = std::size_t{1} << 30);

/// Whether that names standard output: "-", /dev/stdout, /dev/fd/1 or /proc/self/fd/1.
[[nodiscard]] bool is_standard_output(const std::string& path);

/// Whether what is written to `path` goes there directly and replaces no file: standard output and
/// other open descriptors (/dev/fd/3), pipes and devices.
[[nodiscard]] bool is_written_directly(const std::string& path);

/// A file with a name of its own beside the one that it will become. Without take_place() nothing
/// is left behind, and an old file of that name is untouched; programs that write by name
/// (converters of pictures) can be given name().
class TemporaryFile {
 public:
  /// Makes an empty file. `ending`: of the temporary name. It has the permissions, and as far as
  /// possible the group, of the file that it will replace; else those of an ordinary new file.
  /// Throws as throw_cannot_open() when the folder does not exist or cannot be written, and
  /// InvalidArgument when the file at `target` is one that cannot be replaced: a mount of its own,
  /// another user's in a sticky folder, one marked as unchangeable. So whoever makes one before the
  /// work need not fear the end.
  explicit TemporaryFile(std::string target, const std::string& ending = "");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& target() const { return target_; }
  /// Open for writing; whoever takes it closes it.
  [[nodiscard]] int take_descriptor();
  /// Renames, for good: the folder is synced. Where that fails the temporary file stays, and the
  /// IoError says where.
  void take_place();

 private:
  std::string target_;
  std::string name_;     // empty once it has taken its place
  TemporaryName noted_;  // for signals
  int descriptor_ = -1;
};

/// A file that appears under its name only when it is complete: bytes go to a TemporaryFile,
/// commit() flushes, syncs and renames. Without commit() nothing is left behind and an old file of
/// that name is untouched. Where is_written_directly() there is neither temporary file nor
/// renaming. Write errors (a full disk) throw IoError that names the path.
class AtomicFile {
 public:
  /// Throws as TemporaryFile does.
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
  std::optional<TemporaryFile> temporary_;  // none when written directly
  std::FILE* file_ = nullptr;
};

/// Makes a file's new name last through a power cut. Where the system cannot, nothing happens.
void sync_folder_of(const std::string& path);

/// Writes `text` to `path` through an AtomicFile.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace oas
