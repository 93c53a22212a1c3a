#include "oas/logs/detail/rows_ahead.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "oas/logs/detail/line_feeds.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kFirstBytes = std::size_t{1} << 20;  // for each stretch
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // for all of them
constexpr std::size_t kMostInRows = 2 * kMostBytes;        // what they become
constexpr std::size_t kStretchesPerThread = 2;             // so that nobody waits long for the last

}  // namespace

void RowsAhead::begin_file() { give_up(); }

// One by one until the lines to come are understood.
void RowsAhead::give_up() {
  readers_.clear();
  count_ = next_ = 0;
  one_by_one_ = true;
}

bool RowsAhead::read(RowCells& cells, LineBuffer& lines, long line, std::size_t max_rows,
                     LogBlock& block) {
  block.clear();
  if (threads_ == 1) return false;
  if (next_ == count_ &&
      (std::exchange(one_by_one_, false) || !read_stretches(cells, lines, line, max_rows))) {
    return false;
  }
  Stretch& stretch = stretches_[next_];
  if (!stretch.is_whole || !cells.knows_as_much_as(readers_[next_])) {
    give_up();
    one_by_one_ = false;  // that is now
    return false;
  }
  const std::size_t read = stretch.rows.rows.size();
  const std::size_t taken = cells.take_over(stretch.rows);
  std::swap(block, stretch.rows);
  lines.consume(taken == read ? stretch.end : behind_lines(stretch.begin, stretch.end, taken));
  ++next_;
  if (taken < read) give_up();
  return taken > 0;
}

bool RowsAhead::read_stretches(const RowCells& cells, LineBuffer& lines, long line,
                               std::size_t max_rows) {
  const std::size_t most =
      std::min(threads_ * kStretchesPerThread, kMostInRows / (cells.bytes_per_row() * max_rows));
  if (most < 2) return false;
  if (bytes_ == 0) bytes_ = std::min(most * kFirstBytes, kMostBytes);
  if (!lines.fill_ahead(line, bytes_)) return false;
  stretches_.resize(std::max(stretches_.size(), most));
  next_ = 0;
  count_ = cut(lines, max_rows, most);
  if (count_ < most && bytes_ < kMostBytes) bytes_ = std::min(2 * bytes_, kMostBytes);
  if (count_ < 2) {
    count_ = 0;
    return false;
  }
  while (readers_.size() < count_) readers_.push_back(cells.copy_for_later_lines());
  parallel_for(count_, {static_cast<int>(threads_)}, [&](std::size_t i) { parse(i); });
  return true;
}

// Stretches of `max_rows` lines, at the most so many; returns how many.
std::size_t RowsAhead::cut(const LineBuffer& lines, std::size_t max_rows, std::size_t most) {
  const char* begin = lines.begin();
  std::size_t count = 0;
  for (; count < most; ++count) {
    const char* const end = behind_lines(begin, lines.end(), max_rows);
    if (end == nullptr) break;
    stretches_[count].begin = begin;
    stretches_[count].end = end;
    begin = end;
  }
  return count;
}

// What is wrong is found, and said, by whoever reads the lines one by one.
void RowsAhead::parse(std::size_t index) {
  Stretch& stretch = stretches_[index];
  RowCells& reader = readers_[index];
  stretch.rows.clear();
  stretch.is_whole = false;
  reader.skip_lines();
  const char* position = stretch.begin;
  try {
    while (position != stretch.end && !is_blank_line(position)) {
      position = reader.read(position, 0, stretch.rows);
    }
  } catch (const std::exception&) {
    return;
  }
  stretch.is_whole = position == stretch.end;
}

}  // namespace oas::detail
