#include "oas/study/result_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/version.hpp"
#include "oas/study/detail/sqlite.hpp"
#include "oas/study/kinds.hpp"

namespace oas {

namespace detail {

// Only one process may add results: a lock on the folder, which vanishes with the process.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    OAS_REQUIRE(descriptor_ >= 0, "{}: {}", folder, std::strerror(errno));
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    close(descriptor_);
    throw_invalid_argument(
        fmt::format("{}: another process is running a study in this folder", folder));
  }
  ~FolderLock() { close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace detail

namespace {

using detail::Database;
using detail::FolderLock;
using detail::Statement;
using detail::Transaction;

constexpr std::int64_t kApplicationId = 0x6f617372;  // "oasr"
constexpr std::int64_t kFormat = 1;

std::string results_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "results.sqlite").string();
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  OAS_REQUIRE(!error, "{}: cannot be made: {}", folder, error.message());
}

std::string quoted_columns(const TaskKind& kind) {
  std::string text;
  for (const std::string_view column : kind.columns) text += fmt::format(", \"{}\"", column);
  return text;
}

std::set<std::string> kinds_of(const Study& study) {
  std::set<std::string> kinds;
  for (const Task& task : study.tasks) kinds.insert(task.kind);
  return kinds;
}

void create_tables(const Database& database, const Study& study) {
  Transaction transaction(database);
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.run(fmt::format("PRAGMA user_version = {}", kFormat));
  database.run("CREATE TABLE study(key TEXT PRIMARY KEY, value TEXT)");
  database.run(
      "CREATE TABLE units(number INTEGER PRIMARY KEY, study TEXT, task TEXT, kind TEXT, "
      "replication INTEGER, seed INTEGER, version TEXT, status TEXT, message TEXT, seconds REAL, "
      "checksum TEXT, UNIQUE(task, replication))");
  database.run(
      "CREATE TABLE sessions(started TEXT, seconds REAL, threads INTEGER, machine TEXT, "
      "version TEXT, units INTEGER)");
  for (const std::string& kind : kinds_of(study)) {
    database.run(fmt::format(
        "CREATE TABLE \"{}\"(unit INTEGER, line INTEGER{}, PRIMARY KEY(unit, line)) WITHOUT ROWID",
        kind, quoted_columns(find_task_kind(kind))));
  }
  const std::pair<const char*, std::string> facts[] = {
      {"name", study.name},   {"hash", study.hash()},   {"canonical", study.canonical()},
      {"file", study.file},   {"source", study.source}, {"quick", study.quick ? "1" : "0"},
      {"version", version()},
  };
  for (const auto& [key, value] : facts) {
    Statement insert(database, "INSERT INTO study VALUES(?, ?)");
    insert.bind(std::string(key)).bind(value).step();
  }
  transaction.commit();
}

std::string fact(const Database& database, const std::string& key) {
  Statement select(database, "SELECT value FROM study WHERE key = ?");
  select.bind(key);
  OAS_REQUIRE(select.step(), "{}: is damaged: it does not say its {}", database.path(), key);
  return select.text(0);
}

// True when the file is new and empty.
bool check_format(const Database& database) {
  const Cell id = database.value("PRAGMA application_id");
  if (id == Cell{std::int64_t{0}} &&
      database.value("SELECT count(*) FROM sqlite_master") == Cell{std::int64_t{0}}) {
    return true;
  }
  OAS_REQUIRE(id == Cell{kApplicationId},
              "{}: is an SQLite file, but none with results of oas; nothing was changed",
              database.path());
  const Cell format = database.value("PRAGMA user_version");
  OAS_REQUIRE(format == Cell{kFormat}, "{}: has format {}; this program reads format {}",
              database.path(), to_csv(format), kFormat);
  const Cell sound = database.value("PRAGMA quick_check(1)");
  OAS_REQUIRE(sound == Cell{std::string("ok")}, "{}: is damaged ({})", database.path(),
              to_csv(sound));
  return false;
}

// The first line in which two texts differ, of each.
std::pair<std::string, std::string> first_difference(std::string_view a, std::string_view b) {
  const auto next_line = [](std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  while (!a.empty() || !b.empty()) {
    std::pair lines(next_line(a), next_line(b));
    if (lines.first != lines.second) return lines;
  }
  return {};
}

void check_same_study(const Database& database, const Study& study) {
  const auto [stored, wanted] = first_difference(fact(database, "canonical"), study.canonical());
  OAS_REQUIRE(stored == wanted,
              "{}: holds results of another study: \"{}\" there, \"{}\" in {}; results of both "
              "must not be mixed, so choose another folder (-o)",
              database.path(), stored, wanted, study.file);
  const std::string made_by = fact(database, "version");
  OAS_REQUIRE(made_by == version(),
              "{}: was made by version {} and this is {}; results of both must not be mixed, so "
              "choose another folder (-o)",
              database.path(), made_by, version());
}

// Prose and figures may change while the results stay valid: the newest text counts.
void update_text(const Database& database, const Study& study) {
  if (fact(database, "source") == study.source && fact(database, "file") == study.file) return;
  Transaction transaction(database);
  Statement update(database, "UPDATE study SET value = ? WHERE key = ?");
  update.bind(study.source).bind(std::string("source")).step();
  update.reset();
  update.bind(study.file).bind(std::string("file")).step();
  transaction.commit();
}

std::string checksum(const ResultRows& rows) {
  std::string text;
  for (const ResultRow& row : rows) text += to_csv(row);
  return fmt::format("{:016x}", fingerprint(text));
}

}  // namespace

struct ResultStore::Impl {
  std::string folder;
  std::unique_ptr<FolderLock> lock;
  Database database;
  Study study;

  [[nodiscard]] ResultRows rows_of(const std::string& kind, std::int64_t number) const {
    Statement select(database,
                     fmt::format("SELECT * FROM \"{}\" WHERE unit = ? ORDER BY line", kind));
    select.bind(number);
    ResultRows rows;
    while (select.step()) {
      ResultRow row;
      for (int c = 2; c < select.num_columns(); ++c) row.push_back(select.cell(c));
      rows.push_back(std::move(row));
    }
    return rows;
  }

  [[nodiscard]] ResultRows checked_rows(const std::string& kind, std::int64_t number,
                                        const std::string& expected) const {
    ResultRows rows = rows_of(kind, number);
    OAS_REQUIRE(checksum(rows) == expected, "{}: is damaged: the rows of task {} were changed",
                database.path(), number);
    return rows;
  }
};

ResultStore::ResultStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResultStore::~ResultStore() = default;
ResultStore::ResultStore(ResultStore&&) noexcept = default;
ResultStore& ResultStore::operator=(ResultStore&&) noexcept = default;

ResultStore ResultStore::open(const std::string& folder, const Study& study) {
  make_folder(folder);
  auto lock = std::make_unique<FolderLock>(folder);
  auto impl = std::unique_ptr<Impl>(
      new Impl{folder, std::move(lock), {results_path(folder), Database::Mode::write}, study});
  if (check_format(impl->database)) {
    create_tables(impl->database, study);
  } else {
    check_same_study(impl->database, study);
    update_text(impl->database, study);
  }
  impl->database.write_ahead();
  return ResultStore(std::move(impl));
}

ResultStore ResultStore::open_existing(const std::string& folder) {
  const std::string path = results_path(folder);
  OAS_REQUIRE(std::filesystem::exists(path), "{}: no such file; run the study first", path);
  auto impl =
      std::unique_ptr<Impl>(new Impl{folder, nullptr, {path, Database::Mode::read}, Study{}});
  OAS_REQUIRE(!check_format(impl->database), "{}: is empty; run the study first", path);
  const Database& database = impl->database;
  impl->study =
      parse_study(fact(database, "source"), fact(database, "file"), fact(database, "quick") == "1");
  OAS_REQUIRE(impl->study.hash() == fact(database, "hash"),
              "{}: this program reads the stored study differently than version {} that made it",
              path, fact(database, "version"));
  return ResultStore(std::move(impl));
}

const Study& ResultStore::study() const { return impl_->study; }
const std::string& ResultStore::folder() const { return impl_->folder; }
std::string ResultStore::version() const { return fact(impl_->database, "version"); }

std::vector<std::int64_t> ResultStore::finished() const {
  Statement select(impl_->database,
                   "SELECT number FROM units WHERE status = 'done' ORDER BY number");
  std::vector<std::int64_t> numbers;
  while (select.step()) numbers.push_back(select.integer(0));
  return numbers;
}

std::vector<UnitResult> ResultStore::failures() const {
  Statement select(
      impl_->database,
      "SELECT number, message, seconds FROM units WHERE status = 'failed' ORDER BY number");
  std::vector<UnitResult> failed;
  while (select.step()) {
    failed.push_back({select.integer(0), true, select.text(1), select.number(2), {}});
  }
  return failed;
}

UnitResult ResultStore::unit(std::int64_t number) const {
  Statement select(impl_->database,
                   "SELECT status, message, seconds, kind, checksum FROM units WHERE number = ?");
  select.bind(number);
  OAS_REQUIRE(select.step(), "{}: task {} is not there yet", impl_->database.path(), number);
  return {number, select.text(0) == "failed", select.text(1), select.number(2),
          impl_->checked_rows(select.text(3), number, select.text(4))};
}

ResultTable ResultStore::table(const std::string& kind) const {
  ResultTable table{kind, {std::begin(kKeyColumns), std::end(kKeyColumns)}, {}};
  for (const std::string_view column : find_task_kind(kind).columns) {
    table.columns.emplace_back(column);
  }
  Statement select(impl_->database,
                   "SELECT number, checksum FROM units WHERE status = 'done' AND kind = ? "
                   "ORDER BY number");
  select.bind(kind);
  while (select.step()) {
    const Unit unit = impl_->study.unit(select.integer(0));
    const Task& task = impl_->study.tasks[unit.task];
    for (ResultRow& row : impl_->checked_rows(kind, unit.number, select.text(1))) {
      ResultRow whole = {unit.number, task.sweep, std::int64_t{unit.replication},
                         static_cast<std::int64_t>(task.seed)};
      whole.insert(whole.end(), std::make_move_iterator(row.begin()),
                   std::make_move_iterator(row.end()));
      table.rows.push_back(std::move(whole));
    }
  }
  return table;
}

double ResultStore::total_seconds() const {
  return to_number(impl_->database.value("SELECT total(seconds) FROM units"));
}

std::vector<Session> ResultStore::sessions() const {
  Statement select(impl_->database,
                   "SELECT started, seconds, threads, machine, version, units, rowid FROM sessions "
                   "ORDER BY rowid");
  std::vector<Session> sessions;
  while (select.step()) {
    sessions.push_back({select.text(0), select.number(1), static_cast<int>(select.integer(2)),
                        select.text(3), select.text(4), select.integer(5), select.integer(6)});
  }
  return sessions;
}

void ResultStore::record(const UnitResult& result) {
  const Unit unit = impl_->study.unit(result.number);
  const Task& task = impl_->study.tasks[unit.task];
  const TaskKind& kind = find_task_kind(task.kind);
  Transaction transaction(impl_->database);
  Statement insert(impl_->database,
                   "INSERT OR REPLACE INTO units VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(result.number).bind(impl_->study.hash()).bind(task.name).bind(task.kind);
  insert.bind(std::int64_t{unit.replication}).bind(static_cast<std::int64_t>(task.seed));
  insert.bind(std::string(oas::version())).bind(std::string(result.failed ? "failed" : "done"));
  insert.bind(result.message).bind(result.seconds).bind(checksum(result.rows)).step();
  std::string marks = "?, ?";
  for (std::size_t i = 0; i < kind.columns.size(); ++i) marks += ", ?";
  Statement add(impl_->database, fmt::format("INSERT INTO \"{}\" VALUES({})", kind.name, marks));
  std::int64_t line = 0;
  for (const ResultRow& row : result.rows) {
    add.reset();
    add.bind(result.number).bind(line++);
    for (const Cell& cell : row) add.bind(cell);
    add.step();
  }
  transaction.commit();
}

void ResultStore::record(Session& session) {
  Transaction transaction(impl_->database);
  if (session.number == 0) {
    session.number = std::get<std::int64_t>(
        impl_->database.value("SELECT coalesce(max(rowid), 0) + 1 FROM sessions"));
  }
  Statement insert(impl_->database,
                   "INSERT OR REPLACE INTO sessions(rowid, started, seconds, threads, machine, "
                   "version, units) VALUES(?, ?, ?, ?, ?, ?, ?)");
  insert.bind(session.number)
      .bind(session.started)
      .bind(session.seconds)
      .bind(std::int64_t{session.threads});
  insert.bind(session.machine).bind(session.version).bind(session.units).step();
  transaction.commit();
}

}  // namespace oas
