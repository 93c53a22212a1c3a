#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "oas/journal/journal_record.hpp"

namespace oas {

/// Between two records of a journal.
struct JournalPlace {
  int segment = 1;
  std::uint64_t offset = 0;    ///< in the segment's file; 0: before its header
  std::uint64_t sequence = 0;  ///< number of the next record; headers do not count

  friend bool operator==(const JournalPlace&, const JournalPlace&) = default;
};

/// Reads the records of a journal in their order, while it is written to or not. A record that is
/// cut off at the end of the last file, or followed by zeros only, was never answered: it is where
/// the journal ends. Anything else that does not agree with its checksums is damage, an
/// InvalidArgument that names file and byte. Constant memory.
class JournalReader {
 public:
  /// Throws InvalidArgument when there is no journal in that folder, when it lacks a file, and when
  /// it ends before `from`.
  explicit JournalReader(std::string folder, JournalPlace from = {});
  ~JournalReader();
  JournalReader(JournalReader&&) noexcept = default;
  JournalReader& operator=(JournalReader&&) noexcept = default;

  /// The next record that is no header; false at the end.
  [[nodiscard]] bool next(JournalRecord& record);

  /// Of the file that is being read.
  [[nodiscard]] const JournalHeader& header() const { return header_; }
  /// Before the next record; at the end, where the next one is to be written.
  [[nodiscard]] const JournalPlace& place() const { return place_; }
  /// Bytes behind the last whole record of the last file.
  [[nodiscard]] std::uint64_t torn_bytes() const { return torn_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void open_segment(std::uint64_t offset);
  [[nodiscard]] bool open_next();
  [[nodiscard]] bool read_header();
  // The next record's bytes, a view of buffer_; false: the file ends.
  [[nodiscard]] bool read_record(std::uint64_t number, std::string_view& record);
  // Has so many bytes from the place on in buffer_, fewer where the file ends.
  std::string_view peek(std::size_t size);
  [[nodiscard]] bool only_zeros_from(std::uint64_t offset);
  [[nodiscard]] bool ends_here(std::size_t frame_and_record);
  [[noreturn]] void fail(const std::string& what) const;

  std::string folder_;
  JournalPlace place_;
  JournalHeader header_;
  std::unique_ptr<std::FILE, Close> file_;
  bool last_ = false;  // no later file is there
  std::string buffer_;
  std::size_t used_ = 0;  // of buffer_
  std::uint64_t torn_ = 0;
};

}  // namespace oas
