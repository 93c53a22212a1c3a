#include "oas/logs/log_reader.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "oas/logs/detail/log_header.hpp"
#include "oas/logs/detail/row_evidence.hpp"

namespace oas {

using detail::HeaderColumn;
using detail::LabelColumn;
using detail::LineBuffer;
using detail::LogColumn;
using detail::NumberColumn;
using detail::RunColumn;

void LogBlock::clear() {
  rows.clear();
  run_starts.clear();
  readings.clear();
  likelihoods.clear();
}

RowBlock LogBlock::view() const {
  RowBlock block(rows);
  block.readings = readings;
  block.likelihoods = likelihoods;
  block.run_starts = run_starts;
  return block;
}

class LogReader::Impl {
 public:
  Impl(std::unique_ptr<ByteSource> bytes, const std::string& name, const Pomdp& model)
      : Impl(std::move(bytes), name, model, nullptr) {}
  Impl(std::unique_ptr<ByteSource> bytes, const std::string& name, const ContinuousPomdp& model)
      : Impl(std::move(bytes), name, model.chain(), &model) {}

  bool read_block(LogBlock& block, std::size_t max_rows);

  [[nodiscard]] bool has(LogColumn column) const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [&](const HeaderColumn& given) { return given.column == column; });
  }
  [[nodiscard]] long line() const { return line_; }
  [[nodiscard]] std::size_t rows_read() const { return rows_read_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Impl(std::unique_ptr<ByteSource> bytes, const std::string& name, const Pomdp& model,
       const ContinuousPomdp* continuous)
      : name_(name),
        lines_(decompressed(std::move(bytes), name), name),
        actions_(model.actions(), "action", false),
        observations_(model.observations(), "observation", true),
        states_(model.states(), "state", false) {
    if (continuous != nullptr) evidence_.emplace(*continuous);
    read_header(model.timing());
    if (evidence_) evidence_->set_kind(has(LogColumn::likelihood));
  }

  void read_header(Timing timing);
  bool read_header_line(Timing timing);
  void parse_lines(LogBlock& block, std::size_t max_rows);
  const char* parse_row(const char* position, LogBlock& block);
  void parse_cell(HeaderColumn column, const char*& position, Trajectory& rows);
  [[noreturn]] void fail_field_count(const char* row) const;

  std::string name_;
  LineBuffer lines_;
  std::vector<HeaderColumn> columns_;
  LabelColumn actions_;
  LabelColumn observations_;
  LabelColumn states_;
  NumberColumn propensities_{"propensity", NumberColumn::Range::probability};
  NumberColumn rewards_{"reward", NumberColumn::Range::finite};
  RunColumn runs_;
  std::optional<detail::RowEvidence> evidence_;  // of a log with real numbers
  bool new_run_ = true;                          // the row being read starts a run
  long line_ = 0;                                // number of the line that was read last
  long blank_line_ = 0;  // the first of the blank lines just above, which may end the file; or 0
  std::size_t rows_read_ = 0;
};

void LogReader::Impl::read_header(Timing timing) {
  while (lines_.fill(line_ + 1)) {
    ++line_;
    try {
      if (read_header_line(timing)) return;
    } catch (const InvalidArgument& error) {
      throw ParseError(name_, line_, 0, error.what());
    }
  }
  throw ParseError(name_, 0, 0, line_ == 0 ? "the file is empty" : "the header row is missing");
}

// True when the line was the header row.
bool LogReader::Impl::read_header_line(Timing timing) {
  const char* const start = lines_.begin();
  const auto* const end = static_cast<const char*>(
      std::memchr(start, '\n', static_cast<std::size_t>(lines_.end() - start)));
  lines_.consume(end + 1);
  const std::string_view text(start, static_cast<std::size_t>(end - start));
  if (text.starts_with('#')) {
    detail::check_comment(text, timing);
    return false;
  }
  OAS_REQUIRE(!text.empty() && text != "\r", "a blank line where the header row is expected");
  const auto continuous = evidence_ ? evidence_->columns() : detail::ContinuousColumns{};
  columns_ = detail::parse_header(start, evidence_ ? &continuous : nullptr);
  return true;
}

bool LogReader::Impl::read_block(LogBlock& block, std::size_t max_rows) {
  OAS_REQUIRE(max_rows >= 1, "max_rows is 0; it must be at least 1");
  block.clear();
  while (block.rows.size() < max_rows && lines_.fill(line_ + 1)) parse_lines(block, max_rows);
  rows_read_ += block.rows.size();
  if (rows_read_ == 0) throw ParseError(name_, 0, 0, "no rows below the header");
  return block.rows.size() > 0;
}

void LogReader::Impl::parse_lines(LogBlock& block, std::size_t max_rows) {
  const char* position = lines_.begin();
  const char* const end = lines_.end();
  while (position != end && block.rows.size() < max_rows) {
    ++line_;
    if (*position == '\n' || (*position == '\r' && position[1] == '\n')) [[unlikely]] {
      if (blank_line_ == 0) blank_line_ = line_;
      position += *position == '\r' ? 2 : 1;
      continue;
    }
    if (blank_line_ != 0) throw ParseError(name_, blank_line_, 0, "blank line");
    const std::size_t row = block.rows.size();
    position = parse_row(position, block);
    if (new_run_) block.run_starts.push_back(row);
    new_run_ = false;
  }
  lines_.consume(position);
}

const char* LogReader::Impl::parse_row(const char* position, LogBlock& block) {
  const char* const row = position;
  std::size_t field = 0;
  bool whole_row = false;  // a fault is not that of one cell
  try {
    while (true) {
      parse_cell(columns_[field], position, block.rows);
      if (++field == columns_.size()) break;
      if (*position != ',') fail_field_count(row);
      ++position;
    }
    if (*position == ',') fail_field_count(row);
    if (evidence_) {
      whole_row = true;
      evidence_->finish_row(block);
    }
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(name_, line_, whole_row ? 0 : static_cast<long>(field + 1), error.what());
  }
  return position + (*position == '\r' ? 2 : 1);
}

void LogReader::Impl::parse_cell(HeaderColumn column, const char*& position, Trajectory& rows) {
  switch (column.column) {
    case LogColumn::action:
      rows.actions.emplace_back(actions_.read(position, line_));
      break;
    case LogColumn::observation:
      rows.observations.emplace_back(observations_.read(position, line_));
      break;
    case LogColumn::run:
      new_run_ = runs_.changes(position);
      break;
    case LogColumn::propensity:
      rows.propensities.push_back(propensities_.read(position));
      break;
    case LogColumn::reward:
      rows.rewards.push_back(rewards_.read(position));
      break;
    case LogColumn::state:
      rows.states.emplace_back(states_.read(position, line_));
      break;
    case LogColumn::reading:
    case LogColumn::likelihood:
      evidence_->read_cell(column, position);
      break;
  }
}

void LogReader::Impl::fail_field_count(const char* row) const {
  std::string scratch;
  std::size_t count = 1;
  std::ignore = detail::next_cell(row, scratch);
  for (; *row == ','; ++count) {
    ++row;
    std::ignore = detail::next_cell(row, scratch);
  }
  throw ParseError(name_, line_, 0,
                   fmt::format("{} field{} where the header has {}", count, count == 1 ? "" : "s",
                               columns_.size()));
}

LogReader::LogReader(const std::string& path, const Pomdp& model)
    : LogReader(open_bytes(path), input_name(path), model) {}

LogReader::LogReader(std::unique_ptr<ByteSource> bytes, const std::string& name, const Pomdp& model)
    : impl_(std::make_unique<Impl>(std::move(bytes), name, model)) {}

LogReader::LogReader(const std::string& path, const ContinuousPomdp& model)
    : LogReader(open_bytes(path), input_name(path), model) {}

LogReader::LogReader(std::unique_ptr<ByteSource> bytes, const std::string& name,
                     const ContinuousPomdp& model)
    : impl_(std::make_unique<Impl>(std::move(bytes), name, model)) {}

LogReader::~LogReader() = default;
LogReader::LogReader(LogReader&& other) noexcept = default;
LogReader& LogReader::operator=(LogReader&& other) noexcept = default;

bool LogReader::read_block(LogBlock& block, std::size_t max_rows) {
  return impl_->read_block(block, max_rows);
}

bool LogReader::has_run() const { return impl_->has(LogColumn::run); }
bool LogReader::has_propensity() const { return impl_->has(LogColumn::propensity); }
bool LogReader::has_reward() const { return impl_->has(LogColumn::reward); }
bool LogReader::has_state() const { return impl_->has(LogColumn::state); }
bool LogReader::has_likelihood() const { return impl_->has(LogColumn::likelihood); }
long LogReader::line() const { return impl_->line(); }
std::size_t LogReader::rows_read() const { return impl_->rows_read(); }
const std::string& LogReader::name() const { return impl_->name(); }

bool log_brings_likelihoods(const std::string& path) {
  if (path == "-" || !std::filesystem::is_regular_file(path)) return false;
  try {
    LineBuffer lines(decompressed(open_bytes(path), path), path);
    for (long line = 1; lines.fill(line); ++line) {
      const std::string_view text(lines.begin(),
                                  static_cast<std::size_t>(lines.end() - lines.begin()));
      const std::string_view first = text.substr(0, text.find('\n'));
      if (!first.starts_with('#')) return detail::names_likelihoods(first);
      lines.consume(lines.begin() + first.size() + 1);
    }
  } catch (const InvalidArgument&) {  // the reader will say so
  }
  return false;
}

}  // namespace oas
