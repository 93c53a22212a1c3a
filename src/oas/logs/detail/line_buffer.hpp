#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "oas/logs/byte_source.hpp"

namespace oas::detail {

/// A text as a sequence of whole lines in a buffer that grows with the longest line only, or as far
/// as somebody wants to look ahead. A byte
/// order mark is skipped, and a last line without line feed gets one, so whoever parses [begin(),
/// end()) needs no bounds checks: a line feed always comes first. kSlack bytes behind end() may be
/// read as well.
class LineBuffer {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{1} << 20;
  static constexpr std::size_t kSlack = 64;

  /// `at_start`: of the text, where a byte order mark may be.
  LineBuffer(std::unique_ptr<ByteSource> source, std::string name, bool at_start = true);

  /// True when at least one whole line is there, after reading on if needed; false at the end.
  /// Throws ParseError for a line of more than kMaxLine bytes; `line` is the number of the line
  /// that begins at begin().
  bool fill(long line) { return begin_ != end_ || refill(line); }

  /// The same with at least `bytes` bytes of the text, unless it ends before. A source that fails
  /// does so once the lines before have been used.
  bool fill_ahead(long line, std::size_t bytes);

  [[nodiscard]] const char* begin() const { return begin_; }
  [[nodiscard]] const char* end() const { return end_; }

  /// Everything before `position`, the start of a line, has been used.
  void consume(const char* position) { begin_ = position; }

 private:
  bool refill(long line);
  void drop_used();
  void read_more();
  void find_lines();
  void grow(std::size_t size);
  void skip_byte_order_mark();

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> buffer_;
  const char* begin_;       // of the whole lines
  const char* end_;         // of the whole lines
  std::size_t filled_ = 0;  // bytes in the buffer, the beginning of the next line included
  bool at_start_;
  bool at_end_ = false;
  std::exception_ptr failure_;  // of the source, when it was looked ahead
};

}  // namespace oas::detail
