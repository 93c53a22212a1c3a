#include "oas/logs/detail/row_parser.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/log_split.hpp"

namespace oas::detail {

RowParser::RowParser(std::unique_ptr<ByteSource> bytes, std::string name, const Pomdp& model,
                     std::optional<RowEvidence> evidence, const LogOptions& options)
    : name_(std::move(name)),
      dialect_(options),
      lines_(in_plain_csv(decompressed(std::move(bytes), name_), name_, dialect_), name_),
      cells_(model, std::move(evidence), options) {
  // An action is not needed where there is one only, or readings are collected whatever it was.
  const bool only_collects = cells_.evidence() != nullptr && cells_.evidence()->only_collects();
  expected_ = {model.timing(), model.rows(), cells_.num_actions() > 1 && !only_collects,
               ColumnNames(options.columns)};
  read_header();
}

ParseError RowParser::error(LogColumn column, long line, const std::string& message) const {
  const File& file = file_at(line);
  if (line == 0 && files_.size() > 1) {
    return {fmt::format("{} to {}", file.name, files_.back().name), 0, 0, message};
  }
  return {file.name, line - file.lines_before, detail::field_of(column, file.columns), message};
}

std::string RowParser::place(long line, long beside) const {
  const File& file = file_at(line);
  const std::string text = fmt::format("line {}", line - file.lines_before);
  return &file == &file_at(beside) ? text : fmt::format("{} of {}", text, file.name);
}

std::size_t RowParser::index_of_file(long line) const {
  return static_cast<std::size_t>(&file_at(line) - files_.data());
}

const RowParser::File& RowParser::file_at(long line) const {
  const auto after = std::find_if(files_.begin() + 1, files_.end(),
                                  [&](const File& file) { return line <= file.lines_before; });
  return *(after - 1);
}

// The next file, up to its header; false: there is none.
bool RowParser::open_next() {
  const std::size_t next = files_.size();
  if (!log_ || next == log_->files().size()) return false;
  const long lines_before = files_.back().lines_before + line_;
  name_ = input_name(log_->files()[next]);
  lines_ = LineBuffer(in_plain_csv(decompressed(open_bytes(*log_, next), name_), name_, dialect_),
                      name_);
  line_ = blank_line_ = 0;
  read_header();
  files_.back().lines_before = lines_before;
  check_columns();
  return true;
}

// Whoever looks at the rows was told which columns the first file has.
void RowParser::check_columns() const {
  const auto parts = [](std::vector<HeaderColumn> columns) {
    std::erase(columns, HeaderColumn{LogColumn::ignored});
    std::sort(columns.begin(), columns.end(), [](const HeaderColumn& a, const HeaderColumn& b) {
      return std::pair(a.column, a.index) < std::pair(b.column, b.index);
    });
    return columns;
  };
  const std::vector<HeaderColumn> first = parts(files_.front().columns);
  const std::vector<HeaderColumn> here = parts(cells_.columns());
  if (here == first) return;
  const auto names = [](const std::vector<HeaderColumn>& columns,
                        const std::vector<HeaderColumn>& others) {
    std::vector<std::string_view> only;
    for (const HeaderColumn& one : columns) {
      if (std::find(others.begin(), others.end(), one) != others.end()) continue;
      only.push_back(static_cast<std::size_t>(one.column) < kLogColumnNames.size()
                         ? kLogColumnNames[static_cast<std::size_t>(one.column)]
                         : "a part of the reading");
    }
    return only;
  };
  const auto lacks = names(first, here);
  throw ParseError(
      name_, line_, 0,
      fmt::format("{} {}, unlike {}, whose units may go on here; a part of rows that is not to be "
                  "read can be left out with --columns {}=",
                  lacks.empty() ? "there is a column for" : "there is no column for",
                  fmt::join(lacks.empty() ? names(here, first) : lacks, ", "), files_.front().name,
                  lacks.empty() ? names(here, first).front() : lacks.front()));
}

void RowParser::read_header() {
  while (lines_.fill(line_ + 1)) {
    ++line_;
    try {
      if (read_header_line()) {
        files_.push_back({name_, 0, cells_.columns()});
        return;
      }
    } catch (const InvalidArgument& error) {
      throw ParseError(name_, line_, 0, error.what());
    }
  }
  throw ParseError(name_, 0, 0, line_ == 0 ? "the file is empty" : "the header row is missing");
}

// True when the line was the header row.
bool RowParser::read_header_line() {
  const char* const start = lines_.begin();
  const auto* const end = static_cast<const char*>(
      std::memchr(start, '\n', static_cast<std::size_t>(lines_.end() - start)));
  lines_.consume(end + 1);
  const std::string_view text(start, static_cast<std::size_t>(end - start));
  if (text.starts_with('#')) {
    check_comment(text, expected_.timing, expected_.rows);
    return false;
  }
  OAS_REQUIRE(!text.empty() && text != "\r", "a blank line where the header row was expected");
  const std::optional<ContinuousColumns> continuous = cells_.continuous_columns();
  cells_.begin_file(name_, parse_header(start, continuous ? &*continuous : nullptr, expected_.names,
                                        expected_.needs_action));
  ahead_.begin_file();
  return true;
}

void RowParser::read_only(const LogSlice& slice, std::unique_ptr<ByteSource> bytes) {
  lines_ = LineBuffer(std::move(bytes), name_, false);
  line_ = slice.lines_before;
  more_follow_ = !slice.is_last;
  if (!slice.cells) return;
  cells_ = *slice.cells;
  cells_.skip_rows(slice.name_before);
}

bool RowParser::read(LogBlock& block, std::size_t max_rows) {
  block.clear();
  do {
    first_line_ = files_.back().lines_before + line_ + 1;
    if (blank_line_ == 0 && ahead_.read(cells_, lines_, line_ + 1, max_rows, block)) {
      line_ += static_cast<long>(block.rows.size());
      break;
    }
    while (block.rows.size() < max_rows && lines_.fill(line_ + 1)) parse_lines(block, max_rows);
  } while (block.rows.size() == 0 && open_next());
  if (more_follow_ && blank_line_ != 0 && block.rows.size() < max_rows) {
    throw ParseError(name_, blank_line_, 0, "blank line");
  }
  return block.rows.size() > 0;
}

void RowParser::parse_lines(LogBlock& block, std::size_t max_rows) {
  const char* position = lines_.begin();
  const char* const end = lines_.end();
  try {
    while (position != end && block.rows.size() < max_rows) {
      ++line_;
      if (is_blank_line(position)) [[unlikely]] {
        if (blank_line_ == 0) blank_line_ = line_;
        position += *position == '\r' ? 2 : 1;
        continue;
      }
      if (blank_line_ != 0) throw ParseError(name_, blank_line_, 0, "blank line");
      position = cells_.read(position, line_, block);
    }
  } catch (const RunComesBack&) {
    --line_;  // that one is read again later
    lines_.consume(position);
    throw;
  }
  lines_.consume(position);
}

}  // namespace oas::detail
