#include "oas/logs/log_files.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

bool readable_again(const std::string& path) {
  return path != "-" && std::filesystem::is_regular_file(path);
}

std::int64_t count_runs(LogReader& reader) {
  std::int64_t runs = 0;
  for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
    runs += static_cast<std::int64_t>(block.run_starts.size());
  }
  return runs;
}

}  // namespace

LogFiles::LogFiles(Open open, std::vector<OneLog> logs, RowsRead progress)
    : open_(std::move(open)), logs_(std::move(logs)), progress_(std::move(progress)) {
  OAS_REQUIRE(!logs_.empty(), "no log to read");
}

LogFiles::LogFiles(const Pomdp& model, std::span<const std::string> paths, RowsRead progress,
                   const LogOptions& options)
    : LogFiles([&model, options](const OneLog& log) { return LogReader(log, model, options); },
               logs_of(paths, options), std::move(progress)) {}

LogFiles::LogFiles(const ContinuousPomdp& model, std::span<const std::string> paths,
                   RowsRead progress, const LogOptions& options)
    : LogFiles([&model, options](const OneLog& log) { return LogReader(log, model, options); },
               logs_of(paths, options), std::move(progress)) {}

bool LogFiles::next(RowBlock& block) {
  for (; log_ < logs_.size(); ++log_, reader_.reset()) {
    if (!reader_) reader_.emplace(open_(logs_[log_]));
    if (!reader_->read_block(block_, kLogBlockRows)) continue;
    if (progress_) progress_(static_cast<std::int64_t>(block_.rows.size()));
    block = block_.view();
    return true;
  }
  return false;
}

void LogFiles::rewind() {
  OAS_REQUIRE(cannot_rewind().empty(), "{}: can be read only once", cannot_rewind());
  reader_.reset();
  log_ = 0;
}

std::string LogFiles::cannot_rewind() const {
  for (const OneLog& log : logs_) {
    const auto pipe = std::find_if_not(log.files().begin(), log.files().end(), readable_again);
    if (pipe != log.files().end()) return input_name(*pipe);
  }
  return {};
}

std::string LogFiles::name() const {
  return reader_ ? reader_->name() : input_name(logs_[std::min(log_, logs_.size() - 1)].name());
}

void LogFiles::fail(std::size_t row, const std::string& message) const {
  throw ParseError(logs_[log_].files()[reader_->file_of(row)], reader_->line_of(row), 0, message);
}

void LogFiles::fail_at(std::int64_t index, const std::string& message) {
  const auto pipe = std::find_if(logs_.begin(), logs_.end(), [](const OneLog& log) {
    return !std::all_of(log.files().begin(), log.files().end(), readable_again);
  });
  if (pipe != logs_.begin()) {
    LogFiles again(open_, std::vector(logs_.begin(), pipe), {});
    for (RowBlock block; again.next(block); index -= static_cast<std::int64_t>(block.size())) {
      const auto rows = static_cast<std::int64_t>(block.size());
      if (index < rows) again.fail(static_cast<std::size_t>(index), message);
    }
  }
  throw ParseError(input_name(logs_.front().name()), 0, 0, message);
}

std::vector<RowPart> LogFiles::parts(Parallelism parallelism) const {
  if (logs_.size() == 1 || !cannot_rewind().empty()) return {};
  std::vector<std::int64_t> runs(logs_.size(), 1);
  parallel_for(logs_.size(), parallelism, [&](std::size_t i) {
    LogReader reader = open_(logs_[i]);
    if (reader.has_run() || reader.has_time() || reader.reading_first())
      runs[i] = count_runs(reader);
  });
  std::vector<RowPart> parts;
  std::int64_t first_run = 0;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    parts.push_back(
        {std::unique_ptr<RowSource>(new LogFiles(open_, {logs_[i]}, progress_)), first_run});
    first_run += runs[i];
  }
  return parts;
}

}  // namespace oas
