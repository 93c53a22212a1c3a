#include "oas/logs/log_files.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/logs/byte_source.hpp"
#include "oas/logs/detail/log_split.hpp"

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
    if (!std::filesystem::is_regular_file(file)) continue;  // a journal
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

// What has to be counted before parts are made: of a log that is split, its stretches; of another
// one with a column `run` its runs, unless a list of shards tells them.
struct LogFiles::Counting {
  struct Task {
    std::size_t log = 0;
    std::optional<std::size_t> stretch;  // none: all of it
  };

  std::vector<std::int64_t> sizes;                      // [log]
  std::vector<std::optional<detail::LogSplit>> splits;  // [log]
  std::vector<Task> tasks;                              // in the order of logs and stretches
  std::vector<std::int64_t> task_sizes;                 // bytes
  std::vector<detail::LogCounts> counts;                // [task]; of a whole log first_name is
                                                        // the number of its runs
};

void LogFiles::plan_counting(std::size_t workers, Parallelism parallelism, Counting& plan) const {
  for (const OneLog& log : logs_) plan.sizes.push_back(size_of(log));
  const std::int64_t all = std::accumulate(plan.sizes.begin(), plan.sizes.end(), std::int64_t{0});
  plan.splits.resize(logs_.size());
  parallel_for(logs_.size(), parallelism, [&](std::size_t i) {
    const std::int64_t size = plan.sizes[i];
    const auto stretches = static_cast<std::size_t>(
        std::min(static_cast<double>(size / least_bytes_),
                 std::round(static_cast<double>(size) * static_cast<double>(workers) /
                            static_cast<double>(std::max<std::int64_t>(all, 1)))));
    const OneLog& log = logs_[i];
    if (stretches < 2 || log.files().size() > 1 || log.shard() != nullptr) return;
    if (!is_plain_file(log.name())) return;
    plan.splits[i] = detail::LogSplit::of(
        log.name(), [&] { return open_(log); }, stretches);
  });
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    const auto& split = plan.splits[i];
    for (std::size_t stretch = 0; split && stretch < split->stretches(); ++stretch) {
      if (!split->is_counted(stretch)) continue;
      plan.tasks.push_back({i, stretch});
      plan.task_sizes.push_back(split->bytes(stretch));
    }
    if (split || logs_.size() == 1) continue;
    plan.tasks.push_back({i, {}});
    plan.task_sizes.push_back(plan.sizes[i]);
  }
}

// Of some of the tasks.
std::vector<detail::LogCounts> LogFiles::count(const Counting& plan, Stretch some,
                                               Parallelism parallelism) const {
  std::vector<detail::LogCounts> counts(some.size());
  parallel_for(counts.size(), parallelism, [&](std::size_t i) {
    const Counting::Task& task = plan.tasks[some.first + i];
    if (task.stretch) {
      const detail::LogSplit& split = *plan.splits[task.log];
      const bool all = *task.stretch + 1 < split.stretches() || task.log + 1 < logs_.size();
      counts[i] = split.count(*task.stretch, all);
    } else {
      counts[i].first_name = count_runs_of(logs_[task.log]);
    }
  });
  return counts;
}

// 1 where something is wrong with it: who reads its rows will say what, after the faults of the
// logs before it, however many workers count.
std::int64_t LogFiles::count_runs_of(const OneLog& log) const {
  try {
    LogReader reader = open_(log);
    // With times, or readings first, rows are left out.
    if (reader.has_time() || reader.reading_first()) return count_runs(reader);
    if (!reader.has_run()) return 1;
    return log.shard() != nullptr ? log.shard()->runs : count_runs(reader);
  } catch (const InvalidArgument&) {
    return 1;
  }
}

// Each rank does its share of the tasks.
std::vector<detail::LogCounts> LogFiles::count_together(const Counting& plan,
                                                        Parallelism parallelism) const {
  Team& team = *parallelism.team;
  std::vector<detail::LogCounts> counts;
  gather(
      team,
      [&] {
        ByteWriter out;
        const Stretch own = share_of(plan.task_sizes, team.rank(), team.size());
        out.put_all(count(plan, own, {parallelism.threads}));
        return out.take();
      },
      [&](const std::string& bytes) {
        const auto more = ByteReader(bytes).get_all<detail::LogCounts>();
        counts.insert(counts.end(), more.begin(), more.end());
      });
  if (!team.leads()) return ByteReader(team.order()).get_all<detail::LogCounts>();
  ByteWriter out;
  out.put_all(counts);
  team.give_order(out.take());
  return counts;
}

std::vector<RowPart> LogFiles::parts(Parallelism parallelism, const RunCut& cut) const {
  if (!cannot_rewind().empty()) return {};
  std::size_t workers = num_threads(parallelism);
  if (Team* const team = parallelism.team; team != nullptr) {
    ByteWriter out;
    out.put(static_cast<std::uint64_t>(workers * static_cast<std::size_t>(team->size())));
    workers =
        static_cast<std::size_t>(ByteReader(team->broadcast(out.take())).get<std::uint64_t>());
  }
  Counting plan;
  plan_counting(workers, {parallelism.threads}, plan);
  if (logs_.size() == 1 && !plan.splits.front()) return {};
  plan.counts = parallelism.team != nullptr ? count_together(plan, parallelism)
                                            : count(plan, {0, plan.tasks.size()}, parallelism);
  std::vector<RowPart> parts;
  std::int64_t first_run = 0;
  std::size_t task = 0;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    const std::size_t first_task = task;
    while (task < plan.tasks.size() && plan.tasks[task].log == i) ++task;
    const auto counts = std::span(plan.counts).subspan(first_task, task - first_task);
    if (plan.splits[i]) {
      first_run += add_slices(i, *plan.splits[i], counts, first_run, cut, parts);
    } else {
      add_part(i, open_, first_run, plan.sizes[i], parts);
      first_run += counts.front().first_name;
    }
  }
  const std::size_t threads = std::max<std::size_t>(1, num_threads(parallelism) / parts.size());
  for (RowPart& part : parts) part.rows->use({static_cast<int>(threads)});
  return parts;
}

void LogFiles::add_part(std::size_t log, Open open, std::int64_t run, std::int64_t size,
                        std::vector<RowPart>& parts) const {
  RowPart& part = parts.emplace_back();
  part.rows = std::unique_ptr<LogFiles>(new LogFiles(std::move(open), {logs_[log]}, progress_));
  part.first_run = run;
  part.size = size;
}

LogFiles::Open LogFiles::open_at(const detail::LogSlice& slice) const {
  return [open = open_, slice](const OneLog& log) {
    LogReader reader = open(log);
    reader.read_only(slice);
    return reader;
  };
}

// False where something is wrong with it.
bool LogFiles::read_row_before(std::size_t log, const detail::LogSlice& slice,
                               StoredRows& row) const {
  detail::LogSlice line = slice;
  line.begin = slice.line_before;
  line.end = slice.begin;
  try {
    LogBlock block;
    if (!open_at(line)(logs_[log]).read_block(block, 1)) return false;
    row.add(block.view());
  } catch (const InvalidArgument&) {
    return false;  // who reads the lines before will say it
  }
  return true;
}

// Returns how many runs the log has; of the last one nobody asks.
std::int64_t LogFiles::add_slices(std::size_t log, const detail::LogSplit& split,
                                  std::span<const detail::LogCounts> counts, std::int64_t first_run,
                                  const RunCut& cut, std::vector<RowPart>& parts) const {
  std::optional<std::int64_t> runs = 1;
  if (log + 1 < logs_.size()) runs = split.runs(counts);
  if (!runs) runs = count_runs_of(logs_[log]);
  std::vector<detail::LogSlice> slices = split.slices(counts, numbered_from(first_run, cut));
  std::vector<StoredRows> before(slices.size());
  for (std::size_t k = slices.size(); k-- > 1;) {
    if (slices[k].rows_before == 0 || read_row_before(log, slices[k], before[k])) continue;
    slices[k - 1].end = slices[k].end;
    slices[k - 1].is_last = slices[k].is_last;
    slices.erase(slices.begin() + static_cast<std::ptrdiff_t>(k));
    before.erase(before.begin() + static_cast<std::ptrdiff_t>(k));
  }
  for (std::size_t k = 0; k < slices.size(); ++k) {
    const detail::LogSlice& slice = slices[k];
    add_part(log, open_at(slice), first_run + slice.run, slice.end - slice.begin, parts);
    parts.back().rows_before = slice.rows_before;
    parts.back().before = std::move(before[k]);
  }
  return *runs;
}

}  // namespace oas
