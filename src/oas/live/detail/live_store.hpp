#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oas/journal/journal_lock.hpp"
#include "oas/journal/journal_writer.hpp"
#include "oas/live/detail/live_learner.hpp"
#include "oas/live/detail/live_state.hpp"
#include "oas/live/live_options.hpp"

namespace oas::detail {

/// The rows of the journal in a folder, for a learner that does not keep them.
[[nodiscard]] RowStorage::Again rows_again(const std::string& folder, const LiveModel& model);

/// The folder of a live agent: its journal, and a snapshot of what the first records of it led to,
/// so that these need not be read again.
class LiveStore {
 public:
  /// Takes the folder for this process alone.
  LiveStore(const LiveModel& model, const LiveOptions& options);

  /// Brings state and learner (null: none) to the end of the journal, and opens it for writing.
  /// Throws InvalidArgument on a journal of another agent and on a damaged one.
  void recover(LiveState& state, LiveLearner* learner);

  [[nodiscard]] JournalWriter& journal() { return *journal_; }
  [[nodiscard]] const JournalWriter& journal() const { return *journal_; }
  /// Whether so many records have come since the last snapshot was taken, or could not be, and an
  /// eighth of the journal, or as many bytes as the snapshot has: a start reads no more than that,
  /// and writing all snapshots costs as much as a few of the last, and the journal.
  [[nodiscard]] bool snapshot_pays(std::uint64_t least_records) const;
  /// None pays before as much as now has come again.
  void put_off_snapshot() { set_snapshot(journal_->place(), snapshot_bytes_); }
  /// What recover() had to say: a snapshot that could not be used, a torn end.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// Replaces the snapshot by this one, taken at `place`. Throws IoError.
  void write_snapshot(const JournalPlace& place, std::string_view state, std::string_view learner);

 private:
  [[nodiscard]] std::string snapshot_path() const;
  void require_no_snapshot(const char* journal) const;
  // Where reading begins.
  [[nodiscard]] JournalPlace load_snapshot(LiveState& state, LiveLearner* learner);
  void replay(JournalReader& reader, LiveState& state, LiveLearner* learner);
  [[nodiscard]] std::uint64_t bytes_before(const JournalPlace& place) const;
  void set_snapshot(const JournalPlace& place, std::uint64_t bytes);

  std::string folder_;
  bool verify_;
  std::size_t segment_bytes_;
  JournalLock lock_;
  JournalHeader header_;
  std::unique_ptr<JournalWriter> journal_;
  std::atomic<std::uint64_t> snapshot_records_ = 0;  // of the journal, before the last one
  std::atomic<std::uint64_t> snapshot_place_ = 0;    // bytes of these
  std::atomic<std::uint64_t> snapshot_bytes_ = 0;    // its own
  std::vector<std::string> notes_;
};

}  // namespace oas::detail
