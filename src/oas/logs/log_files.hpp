#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/team.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/row_source.hpp"

namespace oas {

namespace detail {
class LogSplit;
struct LogCounts;
struct LogSlice;
}  // namespace detail

/// Rows of a log that are read at a time.
inline constexpr std::size_t kLogBlockRows = 1 << 16;

/// The rows of log files, one after the other in the order given. Each file starts a run, unless
/// they are one log (logs_of). Files that hold readings also bring what these say about the states;
/// see LogReader for what it throws.
class LogFiles final : public RowSource {
 public:
  /// Reads no row yet. `progress` may be empty. Keeps a reference to the model. Throws
  /// InvalidArgument when there is no path.
  LogFiles(const Pomdp& model, std::span<const std::string> paths, RowsRead progress = {},
           const LogOptions& options = {});
  LogFiles(const ContinuousPomdp& model, std::span<const std::string> paths, RowsRead progress = {},
           const LogOptions& options = {});

  /// Parts of a file have at least about so many bytes; for tests.
  void split_from(std::int64_t bytes) { least_bytes_ = bytes; }

  void use(Parallelism parallelism) override { parallelism_ = parallelism; }
  [[nodiscard]] bool next(RowBlock& block) override;
  void rewind() override;
  [[nodiscard]] std::string cannot_rewind() const override;
  [[nodiscard]] std::string name() const override;
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  /// Names file and line; of rows that came through a pipe, neither.
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;
  /// One for each log, and of large plain files, where that is possible (detail::LogSplit), several
  /// that begin where a run does or `cut` allows it. Files with a column `run` are read once more,
  /// to count their runs, unless a list of shards says how many there are, and so are lines. Where
  /// a log cannot be read twice, there are no parts.
  [[nodiscard]] std::vector<RowPart> parts(Parallelism parallelism,
                                           const RunCut& cut) const override;

 private:
  using Open = std::function<LogReader(const OneLog& log)>;
  struct Counting;
  LogFiles(Open open, std::vector<OneLog> logs, RowsRead progress);
  void plan_counting(std::size_t workers, Parallelism parallelism, Counting& plan) const;
  [[nodiscard]] std::vector<detail::LogCounts> count(const Counting& plan, Stretch some,
                                                     Parallelism parallelism) const;
  [[nodiscard]] std::vector<detail::LogCounts> count_together(const Counting& plan,
                                                              Parallelism parallelism) const;
  [[nodiscard]] std::int64_t count_runs_of(const OneLog& log) const;
  void add_part(std::size_t log, Open open, std::int64_t run, std::int64_t size,
                std::vector<RowPart>& parts) const;
  [[nodiscard]] Open open_at(const detail::LogSlice& slice) const;
  [[nodiscard]] bool read_row_before(std::size_t log, const detail::LogSlice& slice,
                                     StoredRows& row) const;
  std::int64_t add_slices(std::size_t log, const detail::LogSplit& split,
                          std::span<const detail::LogCounts> counts, std::int64_t first_run,
                          const RunCut& cut, std::vector<RowPart>& parts) const;

  Open open_;
  std::vector<OneLog> logs_;
  RowsRead progress_;
  Parallelism parallelism_{1};
  std::int64_t least_bytes_ = 1 << 20;
  std::size_t log_ = 0;
  std::optional<LogReader> reader_;
  LogBlock block_;
};

}  // namespace oas
