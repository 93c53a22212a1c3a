#include "oas/core/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// Where a chain of symbolic links leads, whether or not it exists: that file is to be replaced, not
// the link.
std::string target_of(std::filesystem::path path) {
  constexpr int kLongestChain = 16;
  std::error_code error;
  for (int i = 0; i < kLongestChain && std::filesystem::is_symlink(path, error); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path.string();
}

// mkstemp makes private files; give the result the permissions an ordinary new file would have.
void set_default_permissions(int descriptor) {
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
}

// Not fopen of /dev/stdout, which would empty the file that standard output is appended to.
std::FILE* open_directly(const std::string& path) {
  return is_standard_output(path) ? fdopen(dup(STDOUT_FILENO), "wb")
                                  : std::fopen(path.c_str(), "wb");
}

}  // namespace

bool is_standard_output(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

// Pipes and devices cannot be replaced by renaming, and /dev/stdout must not be even when it leads
// to a regular file.
bool is_written_directly(const std::string& path) {
  struct stat info = {};
  return path == "-" || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) ||
         (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  struct stat info = {};
  OAS_REQUIRE(stat(path.c_str(), &info) == 0, "{}: {}", path, std::strerror(errno));
  OAS_REQUIRE(!S_ISDIR(info.st_mode), "{}: is a folder, not a file", path);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  OAS_REQUIRE(file != nullptr, "{}: {}", path, std::strerror(errno));
  std::string text;
  char block[1 << 16];
  std::size_t got = 0;
  while (text.size() <= max_bytes && (got = std::fread(block, 1, sizeof block, file)) > 0) {
    text.append(block, got);
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  OAS_REQUIRE(!failed, "{}: cannot be read", path);
  OAS_REQUIRE(text.size() <= max_bytes, "{}: larger than the limit of {} bytes", path, max_bytes);
  return text;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  OAS_REQUIRE(!path_.empty(), "the name of the output file is empty");
  struct stat info = {};
  OAS_REQUIRE(stat(path_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode),
              "{}: is a folder, not a file", path_);
  if (is_written_directly(path_)) {
    file_ = open_directly(path_);
  } else {
    path_ = target_of(path_);
    temporary_ = path_ + ".XXXXXX";
    const int descriptor = mkstemp(temporary_.data());
    if (descriptor >= 0) {
      noted_ = TemporaryName(temporary_);
      set_default_permissions(descriptor);
      file_ = fdopen(descriptor, "wb");
    }
  }
  OAS_REQUIRE(file_ != nullptr, "{}: cannot be written: {}", path_, std::strerror(errno));
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void AtomicFile::fail(const char* doing) const {
  throw IoError(fmt::format("{}: {}: {}", path_, doing, std::strerror(errno)));
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write failed");
}

void AtomicFile::commit() {
  if (std::fflush(file_) != 0) fail("write failed");
  if (!temporary_.empty() && fsync(fileno(file_)) != 0) fail("write failed");
  std::FILE* closing = std::exchange(file_, nullptr);
  if (std::fclose(closing) != 0) {
    if (!temporary_.empty()) std::remove(temporary_.c_str());
    fail("write failed");
  }
  if (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary_.c_str());
    errno = reason;
    fail("rename failed");
  }
}

void sync_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int descriptor =
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

void write_text_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace oas
