#include "oas/journal/journal_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

std::string holder_of(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t got = pread(descriptor, text.data(), text.size() - 1, 0);
  return got > 0 ? fmt::format("process {}", text.data()) : "another process";
}

}  // namespace

JournalLock::JournalLock(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{}: cannot be made: {}", folder, error.message()));
  const std::string path = (std::filesystem::path(folder) / "lock").string();
  constexpr int kMode = 0644;
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (descriptor_ < 0) throw IoError(fmt::format("{}: {}", path, std::strerror(errno)));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = holder_of(descriptor_);
    close(descriptor_);
    throw InvalidArgument(fmt::format("{}: {} has this journal open", folder, holder));
  }
  // For the message of those who come too late; a full disk is no reason to refuse.
  process_ = getpid();
  const std::string pid = std::to_string(process_);
  if (ftruncate(descriptor_, 0) == 0) {
    [[maybe_unused]] const ssize_t done = pwrite(descriptor_, pid.data(), pid.size(), 0);
  }
}

// Processes that were forked meanwhile have the descriptor, too, and would keep the right.
JournalLock::~JournalLock() {
  if (getpid() == process_) flock(descriptor_, LOCK_UN);
  close(descriptor_);
}

}  // namespace oas
