#include "oas/logs/detail/log_split.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "oas/logs/detail/line_feeds.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kFirstRows = 1 << 16;
constexpr std::size_t kAtOnce = std::size_t{1} << 18;  // bytes; stays in a cache

// Shows the bytes of a range, some at a time, until it is told that this was enough (false).
template <class Look>
void look_through(const std::string& path, std::int64_t begin, std::int64_t end, const Look& look) {
  const auto source = open_range(path, begin, end);
  std::vector<char> bytes(static_cast<std::size_t>(
      std::clamp<std::int64_t>(end - begin, 1, static_cast<std::int64_t>(kAtOnce))));
  while (const std::size_t size = source->read(bytes.data(), bytes.size())) {
    if (!look(std::string_view(bytes.data(), size))) return;
  }
}

// Where the line after so many others begins; -1: there are fewer.
std::int64_t line_after(const std::string& path, std::int64_t begin, std::int64_t end,
                        std::int64_t lines) {
  std::int64_t place = lines == 0 ? begin : -1;
  if (lines == 0) return place;
  look_through(path, begin, end, [&](std::string_view text) {
    const char* const first = text.data();
    const char* const behind =
        behind_lines(first, first + text.size(), static_cast<std::size_t>(lines));
    if (behind != nullptr) {
      place = begin + (behind - first);
      return false;
    }
    lines -= count_feeds(first, first + text.size());
    begin += static_cast<std::int64_t>(text.size());
    return true;
  });
  return place;
}

// Where the line begins that ends before `end`, behind its line feed.
std::int64_t line_before(const std::string& path, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kStep = 1 << 12;
  for (std::int64_t last = end - 1; last > begin;) {  // before that line feed
    const std::int64_t first = std::max(begin, last - kStep);
    std::string text;
    look_through(path, first, last, [&](std::string_view more) {
      text += more;
      return true;
    });
    const std::size_t feed = text.rfind('\n');
    if (feed != std::string::npos) return first + static_cast<std::int64_t>(feed) + 1;
    last = first;
  }
  return begin;
}

// The end without the line feeds, and blank lines, there.
std::int64_t end_of_rows(const std::string& path, std::int64_t begin, std::int64_t end) {
  while (end > begin) {
    const std::int64_t line = line_before(path, begin, end);
    bool blank = true;
    look_through(path, line, end, [&](std::string_view text) {
      blank = text.find_first_not_of("\r\n") == std::string_view::npos;
      return blank;
    });
    if (!blank) return end;
    end = line;
  }
  return end;
}

// The run's cell in a line; none where the line cannot be understood at a glance.
std::optional<std::string_view> cell_of(const char* line, long field) {
  const char* position = line;
  for (long before = field - 1; before > 0; ++position) {
    if (*position == '\n' || *position == '"') return {};
    if (*position == ',') --before;
  }
  const char* end = position;
  while (*end >= '0' && *end <= '9') ++end;
  if (!ends_cell(end)) return {};
  return std::string_view(position, static_cast<std::size_t>(end - position));
}

}  // namespace

std::optional<LogSplit> LogSplit::of(const std::string& path,
                                     const std::function<LogReader()>& open,
                                     std::size_t stretches) {
  LogSplit split;
  split.path_ = path;
  try {
    LogReader reader = open();
    split.header_lines_ = reader.line();
    LogBlock rows;
    if (!reader.read_block(rows, kFirstRows)) return {};
    split.cells_ = reader.cells();
  } catch (const InvalidArgument&) {
    return {};  // whoever reads it all will say it
  }
  if (!split.cells_) return {};
  split.run_field_ = field_of(LogColumn::run, split.cells_->columns());
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const std::int64_t begin = line_after(path, 0, size, split.header_lines_);
  split.end_ = end_of_rows(path, begin, size);
  const std::int64_t end = split.end_;
  split.cuts_ = {begin};
  for (std::size_t i = 1; i < stretches; ++i) {
    const auto part = static_cast<std::int64_t>(i);
    const std::int64_t aim = begin + (end - begin) / static_cast<std::int64_t>(stretches) * part;
    const std::int64_t most = std::min(end, aim + static_cast<std::int64_t>(LineBuffer::kMaxLine));
    const std::int64_t cut = line_after(path, aim, most, 1);
    if (cut > split.cuts_.back() && cut < end) split.cuts_.push_back(cut);
  }
  split.cuts_.push_back(size);
  if (split.stretches() < 2) return {};
  return split;
}

LogCounts LogSplit::count(std::size_t stretch, bool all) const {
  const std::int64_t begin = cuts_[stretch];
  const std::int64_t end = std::min(cuts_[stretch + 1], end_);
  return run_field_ > 0 ? count_runs(begin, end, all) : count_lines(begin, end);
}

LogCounts LogSplit::count_lines(std::int64_t begin, std::int64_t end) const {
  LogCounts counts;
  look_through(path_, begin, end, [&](std::string_view text) {
    counts.lines += count_feeds(text.data(), text.data() + text.size());
    return true;
  });
  counts.rows_until = counts.lines;
  return counts;
}

LogCounts LogSplit::count_runs(std::int64_t begin, std::int64_t end, bool all) const {
  LogCounts counts;
  LineBuffer lines(open_range(path_, begin, end), path_, false);
  std::string name;
  std::int64_t since = 0;  // rows of the run
  std::int64_t place = begin;
  const auto look = [&](const char* line) {
    const std::optional<std::string_view> cell = cell_of(line, run_field_);
    if (cell && *cell == name && counts.lines > 0) [[likely]] {
      ++since;
      return true;
    }
    const auto number = cell ? RunNames::number_of(*cell) : std::nullopt;
    if (!number) return false;
    const auto value = static_cast<std::int64_t>(*number);
    if (counts.lines == 0) {
      counts.first_name = value;
    } else if (value != counts.last_name + 1) {
      return false;
    } else if (counts.change < 0) {
      counts.change = place;
      counts.rows_until = counts.lines;
    }
    counts.last_name = value;
    name = *cell;
    since = 1;
    return true;
  };
  try {
    while (lines.fill(0)) {
      for (const char* line = lines.begin(); line != lines.end();) {
        if (!look(line)) {
          counts.clear = 0;
          return counts;
        }
        if (!all && counts.change >= 0) return counts;
        const auto* const next = static_cast<const char*>(std::memchr(
                                     line, '\n', static_cast<std::size_t>(lines.end() - line))) +
                                 1;
        counts.lines += 1;
        place += next - line;
        line = next;
      }
      lines.consume(lines.end());
    }
  } catch (const InvalidArgument&) {
    counts.clear = 0;  // a line that is too long
    return counts;
  }
  if (counts.change < 0) counts.rows_until = counts.lines;
  counts.rows_since = since;
  return counts;
}

std::optional<std::int64_t> LogSplit::runs(std::span<const LogCounts> counts) const {
  Place place{0, 0, 0, counts.front().first_name};
  for (std::size_t i = 0; i < stretches() && is_counted(i); ++i) {
    if (!place.pass(counts[i])) return {};
  }
  return place.run + 1;
}

std::vector<LogSlice> LogSplit::slices(std::span<const LogCounts> counts, const RunCut& cut) const {
  std::vector<LogSlice> slices(1);
  slices.front().begin = cuts_.front();
  slices.front().lines_before = header_lines_;
  Place place{header_lines_, 0, 0, counts.front().first_name};
  for (std::size_t i = 0; i + 1 < stretches() && place.pass(counts[i]); ++i) {
    const LogCounts next = is_counted(i + 1) ? counts[i + 1] : LogCounts();
    if (next.clear == 0) break;
    LogSlice slice;
    if (!cut_in(i + 1, place, next, cut, slice)) continue;
    slice.name_before = place.name;
    slice.cells = cells_;
    slices.back().is_last = false;
    slices.back().end = slice.begin;
    slices.push_back(std::move(slice));
  }
  slices.back().end = cuts_.back();
  return slices;
}

// Over a stretch; false: nobody knows where that leads to.
bool LogSplit::Place::pass(const LogCounts& stretch) {
  const std::int64_t step = stretch.first_name - name;
  if (stretch.clear == 0 || step < 0 || step > 1) return false;
  if (step == 1) rows = 0;
  rows = stretch.change < 0 ? rows + stretch.lines : stretch.rows_since;
  run += stretch.last_name - name;
  name = stretch.last_name;
  lines += stretch.lines;
  return true;
}

// Where a stretch may be begun with at the earliest; false: nowhere.
bool LogSplit::cut_in(std::size_t stretch, const Place& place, const LogCounts& counts,
                      const RunCut& cut, LogSlice& slice) const {
  slice.begin = cuts_[stretch];
  slice.lines_before = place.lines;
  slice.run = place.run + 1;
  if (run_field_ > 0 && counts.first_name != place.name) return counts.first_name == place.name + 1;
  const std::int64_t rows = cut ? cut(place.run, place.rows) : place.rows;
  const std::int64_t more = rows - place.rows;
  if (counts.change >= 0 && (!cut || more >= counts.rows_until)) {
    slice.begin = counts.change;
    slice.lines_before += static_cast<long>(counts.rows_until);
    return true;
  }
  if (!cut) return false;
  slice.begin = line_after(path_, slice.begin, std::min(cuts_[stretch + 1], end_), more);
  if (slice.begin < 0 || slice.begin >= std::min(cuts_[stretch + 1], end_)) return false;
  slice.lines_before += static_cast<long>(more);
  slice.run = place.run;
  slice.rows_before = rows;
  slice.line_before = line_before(path_, cuts_.front(), slice.begin);
  return true;
}

}  // namespace oas::detail
