#include "oas/core/files.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
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

// The permissions an ordinary new file would have.
mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// For names only; what is computed draws from Rng.
std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    bits = static_cast<std::uint64_t>(getpid());
  }
  return bits;
}

// Temporary files are private at first.
void set_permissions(int descriptor, const std::string& target) {
  struct stat old = {};
  const bool replaces = stat(target.c_str(), &old) == 0;
  constexpr mode_t kPermissions = 0777;
  mode_t mode = replaces ? old.st_mode & kPermissions : default_mode();
  // Without the old file's group its group's rights would go to strangers.
  constexpr mode_t kOfGroup = 0070;
  constexpr auto kSameUser = static_cast<gid_t>(-1);
  struct stat now = {};
  if (replaces && fstat(descriptor, &now) == 0 && now.st_gid != old.st_gid &&
      fchown(descriptor, kSameUser, old.st_gid) != 0) {
    mode &= ~kOfGroup;
  }
  fchmod(descriptor, mode);
}

// Why the file at `path` could not be replaced by renaming another one over it; null: it can be, as
// far as one can know.
const char* why_not_replaceable(const std::string& path) {
  struct statx info = {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS, &info) != 0) return nullptr;
  if ((info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) return "it is a mount of its own";
  if ((info.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0) {
    return "it is marked as one that must not change";
  }
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  struct stat folder = {};
  if (stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) return nullptr;
  const uid_t user = geteuid();
  if ((folder.st_mode & S_ISVTX) != 0 && user != 0 && info.stx_uid != user &&
      folder.st_uid != user) {
    return "it belongs to another user, in a folder where only owners may replace files";
  }
  return nullptr;
}

// The number behind /dev/fd/ and the like; -1: it is no such name.
int open_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    const auto read = std::from_chars(path.data() + folder.size(), end, number);
    return read.ec == std::errc() && read.ptr == end ? number : -1;
  }
  return -1;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// As fdopen, but a descriptor for which there is no memory is closed.
std::FILE* stream_of(int descriptor) {
  std::FILE* const file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (file == nullptr && descriptor >= 0) {
    const int error = errno;
    close(descriptor);
    errno = error;
  }
  return file;
}

// What is open already is not opened by name, which would empty a file that is appended to.
std::FILE* open_directly(const std::string& path) {
  const int descriptor = open_descriptor(path);
  return descriptor >= 0 ? stream_of(dup(descriptor)) : std::fopen(path.c_str(), "wb");
}

}  // namespace

void throw_cannot_open(const std::string& what, int error) {
  const std::string message = fmt::format("{}: {}", what, std::strerror(error));
  for (const int failure : {ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT, EIO}) {
    if (error == failure) throw IoError(message);
  }
  throw InvalidArgument(message);
}

bool is_standard_output(const std::string& path) { return open_descriptor(path) == STDOUT_FILENO; }

// Pipes and devices cannot be replaced by renaming, and /dev/stdout must not be even when it leads
// to a regular file.
bool is_written_directly(const std::string& path) {
  struct stat info = {};
  return open_descriptor(path) >= 0 ||
         (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) ||
         (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) throw_cannot_open(path, errno);
  OAS_REQUIRE(!S_ISDIR(info.st_mode), "{}: is a folder, not a file", path);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw_cannot_open(path, errno);
  std::string text;
  char block[1 << 16];
  std::size_t got = 0;
  while (text.size() <= max_bytes && (got = std::fread(block, 1, sizeof block, file.get())) > 0) {
    text.append(block, got);
  }
  if (std::ferror(file.get()) != 0) throw IoError(path + ": cannot be read");
  OAS_REQUIRE(text.size() <= max_bytes, "{}: larger than the limit of {} bytes", path, max_bytes);
  return text;
}

TemporaryFile::TemporaryFile(std::string target, const std::string& ending)
    : target_(target_of(std::move(target))) {
  const char* const why = why_not_replaceable(target_);
  OAS_REQUIRE(why == nullptr, "{}: cannot be replaced: {}; choose another name", target_, why);
  // The name is noted before there is a file of that name: a signal may come in between. So it is
  // one that nobody else has, and not mkstemp's, which is known only when the file is there.
  std::string name = fmt::format("{}.{:016x}{}", target_, random_bits(), ending);
  TemporaryName noted(name);
  constexpr mode_t kPrivate = 0600;
  descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kPrivate);
  if (descriptor_ < 0) throw_cannot_open(target_ + ": cannot be written", errno);
  name_ = std::move(name);
  noted_ = std::move(noted);
  set_permissions(descriptor_, target_);
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!name_.empty()) std::remove(name_.c_str());
}

int TemporaryFile::take_descriptor() { return std::exchange(descriptor_, -1); }

void TemporaryFile::take_place() {
  const std::string name = std::exchange(name_, {});
  noted_ = TemporaryName();
  if (std::rename(name.c_str(), target_.c_str()) != 0) {
    throw IoError(fmt::format("{}: cannot be replaced: {}; what was made for it is in {}", target_,
                              std::strerror(errno), name));
  }
  sync_folder_of(target_);
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  OAS_REQUIRE(!path_.empty(), "the name of the output file is empty");
  struct stat info = {};
  OAS_REQUIRE(stat(path_.c_str(), &info) != 0 || !S_ISDIR(info.st_mode),
              "{}: is a folder, not a file", path_);
  if (is_written_directly(path_)) {
    file_ = open_directly(path_);
  } else {
    temporary_.emplace(path_);
    path_ = temporary_->target();
    file_ = stream_of(temporary_->take_descriptor());
  }
  if (file_ == nullptr) throw_cannot_open(path_ + ": cannot be written", errno);
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void AtomicFile::fail(const char* doing) const {
  throw IoError(fmt::format("{}: {}: {}", path_, doing, std::strerror(errno)));
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write failed");
}

void AtomicFile::commit() {
  if (std::fflush(file_) != 0) fail("write failed");
  if (temporary_ && fsync(fileno(file_)) != 0) fail("write failed");
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write failed");
  if (temporary_) temporary_->take_place();
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
