#include "oas/core/scratch_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// File systems that know no files without a name get one whose name is taken away at once.
int open_without_name(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  std::string name = folder + "/.oas-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

ScratchFile::ScratchFile(const std::string& folder, std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const auto fail = [&](int error) {
    throw IoError(fmt::format("{}: no room for {} bytes of a temporary file: {}", folder, bytes,
                              std::generic_category().message(error)));
  };
  const int descriptor = open_without_name(folder);
  if (descriptor < 0) fail(errno);
  int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  void* mapped = MAP_FAILED;
  if (error == 0) {
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) error = errno;
  }
  close(descriptor);
  if (error != 0) fail(error);
  data_ = static_cast<char*>(mapped);
}

ScratchFile::~ScratchFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace oas
