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

  void use(Parallelism parallelism) override { parallelism_ = parallelism; }
  [[nodiscard]] bool next(RowBlock& block) override;
  void rewind() override;
  [[nodiscard]] std::string cannot_rewind() const override;
  [[nodiscard]] std::string name() const override;
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  /// Names file and line; of rows that came through a pipe, neither.
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;
  /// One for each log. Those with a column `run` are read once more, to count their runs, unless a
  /// list of shards says how many there are; where one of them cannot be, there are no parts.
  [[nodiscard]] std::vector<RowPart> parts(Parallelism parallelism) const override;

 private:
  using Open = std::function<LogReader(const OneLog& log)>;
  LogFiles(Open open, std::vector<OneLog> logs, RowsRead progress);
  [[nodiscard]] std::vector<std::int64_t> count_all_runs(Stretch some,
                                                         Parallelism parallelism) const;
  [[nodiscard]] std::vector<std::int64_t> count_runs_together(std::span<const std::int64_t> sizes,
                                                              Parallelism parallelism) const;

  Open open_;
  std::vector<OneLog> logs_;
  RowsRead progress_;
  Parallelism parallelism_{1};
  std::size_t log_ = 0;
  std::optional<LogReader> reader_;
  LogBlock block_;
};

}  // namespace oas
