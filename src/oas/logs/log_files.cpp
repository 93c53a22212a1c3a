#include "oas/logs/log_files.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/logs/byte_source.hpp"

namespace oas {

namespace {

std::int64_t count_runs(LogReader& reader) {
  std::int64_t runs = 0;
  for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
    runs += static_cast<std::int64_t>(block.run_starts.size());
  }
  return runs;
}

std::int64_t size_of(const OneLog& log) {
  std::int64_t bytes = 0;
  for (const std::string& file : log.files()) {
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(file));
  }
  return bytes;
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
  check_interrupted();
  for (; log_ < logs_.size(); ++log_, reader_.reset()) {
    if (!reader_) {
      reader_.emplace(open_(logs_[log_]));
      reader_->use(parallelism_);
    }
    if (!reader_->read_block(block_, kLogBlockRows)) continue;
    if (progress_) progress_(static_cast<std::int64_t>(block_.rows.size()));
    block = block_.view();
    return true;
  }
  block_ = LogBlock();  // there may be many such sources
  return false;
}

void LogFiles::rewind() {
  OAS_REQUIRE(cannot_rewind().empty(), "{}: can be read only once", cannot_rewind());
  reader_.reset();
  log_ = 0;
}

std::string LogFiles::cannot_rewind() const {
  for (const OneLog& log : logs_) {
    const auto pipe = std::find_if_not(log.files().begin(), log.files().end(), reads_again);
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
    return !std::all_of(log.files().begin(), log.files().end(), reads_again);
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

// Of some of the logs; those without column `run` are one run each.
std::vector<std::int64_t> LogFiles::count_all_runs(Stretch some, Parallelism parallelism) const {
  std::vector<std::int64_t> runs(some.size(), 1);
  parallel_for(runs.size(), parallelism, [&](std::size_t i) {
    const OneLog& log = logs_[some.first + i];
    LogReader reader = open_(log);
    if (reader.has_time() || reader.reading_first()) {  // gaps, and rows that are left out
      runs[i] = count_runs(reader);
    } else if (reader.has_run()) {
      runs[i] = log.shard() != nullptr ? log.shard()->runs : count_runs(reader);
    }
  });
  return runs;
}

// Each rank counts those of its share.
std::vector<std::int64_t> LogFiles::count_runs_together(std::span<const std::int64_t> sizes,
                                                        Parallelism parallelism) const {
  Team& team = *parallelism.team;
  std::vector<std::int64_t> runs;
  gather(
      team,
      [&] {
        ByteWriter out;
        out.put_all(count_all_runs(share_of(sizes, team.rank(), team.size()), parallelism));
        return out.take();
      },
      [&](const std::string& bytes) {
        const auto more = ByteReader(bytes).get_all<std::int64_t>();
        runs.insert(runs.end(), more.begin(), more.end());
      });
  if (!team.leads()) return ByteReader(team.order()).get_all<std::int64_t>();
  ByteWriter out;
  out.put_all(runs);
  team.give_order(out.take());
  return runs;
}

std::vector<RowPart> LogFiles::parts(Parallelism parallelism) const {
  if (logs_.size() == 1 || !cannot_rewind().empty()) return {};
  std::vector<std::int64_t> sizes;
  for (const OneLog& log : logs_) sizes.push_back(size_of(log));
  const std::vector<std::int64_t> runs = parallelism.team != nullptr
                                             ? count_runs_together(sizes, parallelism)
                                             : count_all_runs({0, logs_.size()}, parallelism);
  const std::size_t threads = std::max<std::size_t>(1, num_threads(parallelism) / logs_.size());
  std::vector<RowPart> parts;
  std::int64_t first_run = 0;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    auto part = std::unique_ptr<LogFiles>(new LogFiles(open_, {logs_[i]}, progress_));
    part->use({static_cast<int>(threads)});
    parts.push_back({std::move(part), first_run, sizes[i]});
    first_run += runs[i];
  }
  return parts;
}

}  // namespace oas
