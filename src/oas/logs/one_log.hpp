#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oas/logs/byte_source.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/log_shards.hpp"

namespace oas {

/// How the files of a log follow each other.
enum class Files {
  go_on,      ///< their units go on, as where somebody starts a new file each month
  start_runs  ///< each starts a run, as shards do
};

/// One log: a file, or several.
class OneLog {
 public:
  OneLog(std::string path) : OneLog(std::vector{std::move(path)}) {}  // NOLINT: a path is a log
  OneLog(const char* path) : OneLog(std::string(path)) {}             // NOLINT
  /// Where they go on, in the order of time. Throws InvalidArgument when there is none.
  explicit OneLog(std::vector<std::string> files, Files how = Files::go_on);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  /// Whether there are several files, each of which starts a run.
  [[nodiscard]] bool starts_runs() const { return how_ == Files::start_runs && files_.size() > 1; }
  /// The log that one of its files is by itself.
  [[nodiscard]] OneLog only(std::size_t file) const;
  /// Of its first file, for messages.
  [[nodiscard]] const std::string& name() const { return files_.front(); }
  /// For headings: "january.csv", "january.csv and 2 more files".
  [[nodiscard]] std::string title() const;

  /// What a list of shards says about one of its files; null: no list knows it. Its bytes are then
  /// checked as they are read.
  [[nodiscard]] const LogShard* shard(std::size_t file = 0) const {
    return shards_[file] ? &*shards_[file] : nullptr;
  }
  /// Whether its files are all in one list, so that the names of runs are those of one log.
  [[nodiscard]] bool in_one_list() const;

 private:
  friend OneLog listed(OneLog log, ShardLists& lists);

  std::vector<std::string> files_;
  std::vector<std::optional<LogShard>> shards_;  // [file]
  Files how_;
};

/// The log together with what lists of shards say about its files.
[[nodiscard]] OneLog listed(OneLog log, ShardLists& lists);

/// The bytes of one of its files as they stand there, checked where a list knows them.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const OneLog& log, std::size_t file);

/// The logs that these files, folders of files and patterns (log_files()) make: one, where the
/// first of them has columns for `run` and for `time`, so that a unit is known again and its rows
/// can be put in order; else one each. Reads the header of that file, and of nothing that is no
/// regular file (a pipe can be read only once); whether it can be read at all, the reader will say.
[[nodiscard]] std::vector<OneLog> logs_of(std::span<const std::string> files,
                                          const LogOptions& options = {});

/// The same as one log, for those who go through runs one after the other: where units do not go on
/// from file to file, each file starts a run.
[[nodiscard]] OneLog one_log_of(std::span<const std::string> files, const LogOptions& options = {});

}  // namespace oas
