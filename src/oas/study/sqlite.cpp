#include <sqlite3.h>

#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/study/detail/sqlite.hpp"

namespace oas::detail {

namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kMostBytesOfCell = 64 << 20;

// The file may come from anybody: of its schema only plain tables are believed.
void distrust(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostBytesOfCell);
}

// What only a file that is not as we made it brings about.
bool means_damage(int primary) {
  return primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT || primary == SQLITE_SCHEMA ||
         primary == SQLITE_ERROR || primary == SQLITE_TOOBIG || primary == SQLITE_CONSTRAINT ||
         primary == SQLITE_MISMATCH || primary == SQLITE_FORMAT;
}

}  // namespace

Database::Database(std::string path, Mode mode) : path_(std::move(path)) {
  const int flags =
      SQLITE_OPEN_NOMUTEX |
      (mode == Mode::read ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // A reader opens for writing too where it may: it must roll back what a killed writer left.
  int code = sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK && mode == Mode::read) {
    sqlite3_close(std::exchange(handle_, nullptr));
    code = sqlite3_open_v2(path_.c_str(), &handle_, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY,
                           nullptr);
  }
  try {
    if (code != SQLITE_OK) fail(code);
    distrust(handle_);
    sqlite3_busy_timeout(handle_, kBusyMilliseconds);
    if (mode == Mode::write) {
      OAS_REQUIRE(sqlite3_db_readonly(handle_, "main") == 0, "{}: cannot be written", path_);
    }
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() {
  // Back to one plain file; where that fails, the next one to open it tidies up.
  if (ahead_) sqlite3_exec(handle_, "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
  sqlite3_close(handle_);
}

void Database::write_ahead() {
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = NORMAL");
  ahead_ = true;
}

void Database::fail(int code) const {
  const std::string why = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int primary = code & 0xff;
  if (means_damage(primary)) {
    throw InvalidArgument(
        fmt::format("{}: is damaged or not a results file of oas ({}); nothing was changed; "
                    "'oas study repair' keeps the undamaged part of a damaged one",
                    path_, why));
  }
  if (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY || primary == SQLITE_PERM) {
    throw InvalidArgument(fmt::format("{}: cannot be opened or written ({})", path_, why));
  }
  throw IoError(fmt::format("{}: {}; what was stored before is intact", path_, why));
}

void Database::run(const std::string& sql) const {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::roll_back() const noexcept {
  sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Cell Database::value(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.cell(0) : Cell{};
}

Statement::Statement(const Database& database, const std::string& sql) : database_(&database) {
  const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement_, nullptr);
  if (code == SQLITE_ERROR) {
    // The statement is ours, so a table or column is missing: the file is not as we made it.
    throw InvalidArgument(fmt::format("{}: is damaged or not a results file of oas ({})",
                                      database.path(), sqlite3_errmsg(database.handle())));
  }
  if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(const Cell& cell) {
  const int at = ++bound_;
  int code = SQLITE_OK;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    code = sqlite3_bind_int64(statement_, at, *integer);
  } else if (const auto* number = std::get_if<double>(&cell); number && std::isfinite(*number)) {
    code = sqlite3_bind_double(statement_, at, *number);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    code = sqlite3_bind_text64(statement_, at, text->data(), text->size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  } else {
    code = sqlite3_bind_null(statement_, at);
  }
  if (code != SQLITE_OK) database_->fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_->fail(code);
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

Cell Statement::cell(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return number(column);
    case SQLITE_NULL:
      return {};
    default:
      return text(column);
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return {};
  const int size = sqlite3_column_bytes(statement_, column);
  return {bytes, bytes + size};
}

int Statement::num_columns() const { return sqlite3_column_count(statement_); }

Transaction::Transaction(const Database& database) : database_(&database) {
  database.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself; then this fails, and that is fine.
  if (open_) database_->roll_back();
}

void Transaction::commit() {
  database_->run("COMMIT");
  open_ = false;
}

}  // namespace oas::detail
