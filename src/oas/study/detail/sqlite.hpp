#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oas/study/result_table.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace oas::detail {

/// A connection to one SQLite file. What a file of strangers may hold beside tables (views,
/// triggers) is switched off, and no cell may be longer than 64 MB. Errors name the file: damage
/// and foreign files are InvalidArgument, what the disk refuses is IoError.
class Database {
 public:
  enum class Mode { read, write };
  Database(std::string path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// From here on commits go to a log beside the file and do not wait for the disk: a killed
  /// process loses nothing, a power cut perhaps the last commits, and nothing is ever torn. Closing
  /// puts everything into the one file.
  void write_ahead();

  void run(const std::string& sql) const;
  /// The first cell of the first row, nothing when there is none.
  [[nodiscard]] Cell value(const std::string& sql) const;
  /// Ends a transaction as if it had not been; does nothing when there is none.
  void roll_back() const noexcept;
  [[noreturn]] void fail(int code) const;

  [[nodiscard]] sqlite3* handle() const { return handle_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
  bool ahead_ = false;
};

/// One prepared statement: bind in order, then step through its rows.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const Cell& cell);
  /// True when there is a row.
  bool step();
  void reset();

  [[nodiscard]] Cell cell(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] int num_columns() const;

 private:
  const Database* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Everything inside happens or nothing does: rolled back unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database* database_;
  bool open_ = true;
};

}  // namespace oas::detail
