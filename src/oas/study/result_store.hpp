#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oas/study/result_table.hpp"
#include "oas/study/study.hpp"

namespace oas {

/// What became of one unit.
struct UnitResult {
  std::int64_t number = 0;
  bool failed = false;
  std::string message;  ///< why it failed
  double seconds = 0.0;
  ResultRows rows;
};

/// One call of `run`: when, where, how long.
struct Session {
  std::string started;  ///< UTC
  double seconds = 0.0;
  int threads = 0;
  std::string machine;
  std::string version;
  std::int64_t units = 0;   ///< finished in it
  std::int64_t number = 0;  ///< in the store; 0: not there yet
};

/// The results of one study in one folder: an SQLite file, results.sqlite, to which every finished
/// unit is added in one transaction with its full key (study hash, task, replication, seed,
/// version). Killed at any moment, the file, with its log results.sqlite-wal, holds exactly the
/// units that were finished. Only one process at a time can write; many may read. Not for several
/// threads at once.
///
/// All functions throw InvalidArgument on a file that is none of ours, is damaged, or belongs to
/// another study or version, and IoError when the disk refuses; what was stored stays.
class ResultStore {
 public:
  /// Opens for writing; makes the folder and the file where they are missing. Throws when the file
  /// is of another study (naming the first difference) or version, or is being written. A text that
  /// differs in prose and figures only replaces the stored one.
  static ResultStore open(const std::string& folder, const Study& study);
  /// Opens for reading. The study is the stored one.
  static ResultStore open_existing(const std::string& folder);
  ~ResultStore();
  ResultStore(ResultStore&&) noexcept;
  ResultStore& operator=(ResultStore&&) noexcept;

  [[nodiscard]] const Study& study() const;
  [[nodiscard]] const std::string& folder() const;
  [[nodiscard]] std::string version() const;  ///< of the program that made the results

  /// Numbers of the units that are there and did not fail, in order.
  [[nodiscard]] std::vector<std::int64_t> finished() const;
  /// Failed units, without rows.
  [[nodiscard]] std::vector<UnitResult> failures() const;
  /// One unit with its rows. Throws InvalidArgument when it is not there.
  [[nodiscard]] UnitResult unit(std::int64_t number) const;
  /// All rows of one kind, in the order of the units. Throws when rows do not match their checksum.
  [[nodiscard]] ResultTable table(const std::string& kind) const;
  /// How long each unit took that did not fail.
  [[nodiscard]] std::map<std::int64_t, double> seconds() const;
  [[nodiscard]] double total_seconds() const;
  [[nodiscard]] std::vector<Session> sessions() const;

  /// Stores one unit, replacing an earlier failure of it.
  void record(const UnitResult& result);
  /// Stores a session and numbers it; one that has a number is replaced.
  void record(Session& session);

 private:
  struct Impl;
  explicit ResultStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace oas
