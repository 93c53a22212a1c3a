#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "oas/logs/detail/row_cells.hpp"

namespace oas::detail {

/// Reads the lines of a file ahead, on several threads: stretches of lines become rows at the same
/// time, each by a copy of what reads them one by one. What is handed out is what one thread would
/// have read, and nothing is, where it would have found a fault: those lines are left for it.
class RowsAhead {
 public:
  /// So many threads from now on; 1: nothing is read ahead.
  void use(Parallelism parallelism) { threads_ = num_threads(parallelism); }

  /// Another file follows.
  void begin_file();

  /// The next `max_rows` rows, the first of which stands in line `line`; fewer just before a fault.
  /// False: the next lines must be read one by one; the block is empty then.
  [[nodiscard]] bool read(RowCells& cells, LineBuffer& lines, long line, std::size_t max_rows,
                          LogBlock& block);

 private:
  // Consecutive lines, and the rows that they became.
  struct Stretch {
    const char* begin = nullptr;
    const char* end = nullptr;
    LogBlock rows;
    bool is_whole = false;  // every line became a row
  };

  bool read_stretches(const RowCells& cells, LineBuffer& lines, long line, std::size_t max_rows);
  [[nodiscard]] std::size_t cut(const LineBuffer& lines, std::size_t max_rows, std::size_t most);
  void parse(std::size_t index);
  void give_up();

  std::size_t threads_ = 1;
  std::size_t bytes_ = 0;           // of text that is looked at at once
  std::vector<RowCells> readers_;   // of the stretches
  std::vector<Stretch> stretches_;  // by index, then those of earlier times, for their memory
  std::size_t count_ = 0;           // stretches that were read
  std::size_t next_ = 0;            // the one to be handed out
  bool one_by_one_ = true;          // the next lines have to be read so
};

}  // namespace oas::detail
