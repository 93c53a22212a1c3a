#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "oas/journal/journal_reader.hpp"
#include "oas/journal/journal_record.hpp"

namespace oas {

/// Writes a journal on. Whoever writes holds a JournalLock. append() from one thread at a time,
/// sync() from any.
class JournalWriter {
 public:
  /// Goes on at `place`, where a reader came to the end; what is behind it is cut off. The place of
  /// an empty journal begins one. Throws IoError.
  JournalWriter(std::string folder, JournalHeader header, JournalPlace place,
                std::size_t segment_bytes);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  /// All of these or, where it throws IoError (a full disk), none: they are then in the hands of
  /// the operating system, which a killed process survives. Where not even the half-written ones
  /// can be taken back, the writer is broken and throws from then on.
  void append(std::span<const JournalRecord> records);
  void append(const JournalRecord& record) { append(std::span(&record, 1)); }

  /// Forces all that was appended before the call to the disk. Throws IoError, also where somebody
  /// has removed the file; nothing is then known of what a power cut would leave, and the writer is
  /// broken.
  void sync();

  /// Throws IoError where append() would: writes behind the end and takes it back. From the thread
  /// that appends.
  void try_to_write();

  [[nodiscard]] JournalPlace place() const { return place_; }
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }

 private:
  void open_segment();
  void write(std::string_view bytes);
  void require_whole() const;
  [[noreturn]] void fail(const char* doing, int error) const;

  std::string folder_;
  JournalHeader header_;
  JournalPlace place_;
  std::size_t segment_bytes_;
  int descriptor_ = -1;
  std::atomic<bool> broken_ = false;
  std::atomic<std::uint64_t> appended_ = 0;  // records
  std::mutex syncing_;                       // guards descriptor_ against sync(), and synced_
  std::uint64_t synced_ = 0;
  std::atomic<std::uint64_t> syncs_ = 0;
};

}  // namespace oas
