#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oas/logs/log_options.hpp"
#include "oas/logs/log_shards.hpp"

namespace oas {

/// One log: a file, or several over which its units go on, as where somebody starts a new file each
/// month.
class OneLog {
 public:
  OneLog(std::string path) : files_{std::move(path)} {}    // NOLINT: a path is a log
  OneLog(const char* path) : OneLog(std::string(path)) {}  // NOLINT
  /// In the order of time. Throws InvalidArgument when there is none.
  explicit OneLog(std::vector<std::string> files);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  /// Of its first file, for messages.
  [[nodiscard]] const std::string& name() const { return files_.front(); }
  /// For headings: "january.csv", "january.csv and 2 more files".
  [[nodiscard]] std::string title() const;

  /// What a list of shards says about it; null: no list knows it. Its bytes are then checked as
  /// they are read.
  [[nodiscard]] const LogShard* shard() const { return shard_ ? &*shard_ : nullptr; }
  void is_shard(LogShard shard) { shard_ = std::move(shard); }

 private:
  std::vector<std::string> files_;
  std::optional<LogShard> shard_;
};

/// The logs that these files, folders of files and patterns (log_files()) make: one, where the
/// first of them has columns for `run` and for `time`, so that a unit is known again and its rows
/// can be put in order; else one each. Reads the header of that file, and of nothing that is no
/// regular file (a pipe can be read only once); whether it can be read at all, the reader will say.
[[nodiscard]] std::vector<OneLog> logs_of(std::span<const std::string> files,
                                          const LogOptions& options = {});

/// The files as one log. Throws InvalidArgument where there are several that are not.
[[nodiscard]] OneLog one_log_of(std::span<const std::string> files, const LogOptions& options = {});

}  // namespace oas
