#include "oas/journal/journal_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/journal/detail/segment.hpp"

namespace oas {

JournalWriter::JournalWriter(std::string folder, JournalHeader header, JournalPlace place,
                             std::size_t segment_bytes)
    : folder_(std::move(folder)),
      header_(std::move(header)),
      place_(place),
      segment_bytes_(segment_bytes) {
  // A file behind the last record holds no whole header.
  std::error_code ignored;
  std::filesystem::remove(detail::segment_path(folder_, place_.segment + 1), ignored);
  if (place_.offset == 0) {
    open_segment();
    return;
  }
  const std::string path = detail::segment_path(folder_, place_.segment);
  descriptor_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot be opened", errno);
  if (ftruncate(descriptor_, static_cast<off_t>(place_.offset)) != 0) {
    const int error = errno;
    close(descriptor_);
    fail("cannot be cut", error);
  }
}

JournalWriter::~JournalWriter() {
  if (descriptor_ >= 0) close(descriptor_);
}

// A new file with its header in place of the one before, which is as long as it will be.
void JournalWriter::open_segment() {
  const std::string path = detail::segment_path(folder_, place_.segment);
  constexpr int kMode = 0644;
  const int opened = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (opened < 0) fail("cannot be made", errno);
  header_.segment = place_.segment;
  header_.sequence = place_.sequence;
  const std::string bytes =
      std::string(detail::kMagic) + detail::framed(0, to_bytes(header_record(header_)));
  if (pwrite(opened, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    const int error = errno;
    close(opened);
    unlink(path.c_str());
    fail("header cannot be written", error);
  }
  sync_folder_of(path);
  const std::scoped_lock lock(syncing_);
  if (descriptor_ >= 0) {
    if (fdatasync(descriptor_) != 0) broken_ = true;
    close(descriptor_);
  }
  descriptor_ = opened;
  place_.offset = bytes.size();
}

void JournalWriter::append(std::span<const JournalRecord> records) {
  require_whole();
  if (place_.offset >= segment_bytes_) {
    const JournalPlace full = place_;
    place_.segment += 1;
    place_.offset = 0;
    try {
      open_segment();
    } catch (const IoError&) {
      place_ = full;
      throw;
    }
  }
  std::string bytes;
  std::uint64_t number = place_.sequence;
  for (const JournalRecord& record : records) bytes += detail::framed(number++, to_bytes(record));
  write(bytes);
  place_.offset += bytes.size();
  place_.sequence = number;
  appended_ += records.size();
}

void JournalWriter::write(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto offset = static_cast<off_t>(place_.offset + done);
    const ssize_t wrote = pwrite(descriptor_, bytes.data() + done, bytes.size() - done, offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
      continue;
    }
    const int error = wrote < 0 ? errno : ENOSPC;
    if (ftruncate(descriptor_, static_cast<off_t>(place_.offset)) != 0) broken_ = true;
    fail("cannot be written", error);
  }
}

// Zeros behind the end are no record, should they stay there (see JournalReader).
void JournalWriter::try_to_write() {
  require_whole();
  constexpr std::size_t kBytes = 4096;
  write(std::string(kBytes, '\0'));
  if (ftruncate(descriptor_, static_cast<off_t>(place_.offset)) != 0) {
    broken_ = true;
    fail("cannot be cut", errno);
  }
}

void JournalWriter::sync() {
  require_whole();
  const std::uint64_t wanted = appended_;
  const std::scoped_lock lock(syncing_);
  if (synced_ >= wanted) return;  // somebody else's sync has taken it along
  const std::uint64_t taken_along = appended_;
  struct stat file = {};
  if (fstat(descriptor_, &file) == 0 && file.st_nlink == 0) {
    broken_ = true;
    fail("was removed while it was written", ENOENT);
  }
  if (fdatasync(descriptor_) != 0) {
    broken_ = true;
    fail("cannot be synced", errno);
  }
  synced_ = taken_along;
  ++syncs_;
}

void JournalWriter::require_whole() const {
  if (!broken_) return;
  throw IoError(
      fmt::format("{}: the journal could not be written before; the agent must be "
                  "started again",
                  folder_));
}

void JournalWriter::fail(const char* doing, int error) const {
  throw IoError(fmt::format("{}: {}: {}", detail::segment_path(folder_, place_.segment), doing,
                            std::strerror(error)));
}

}  // namespace oas
