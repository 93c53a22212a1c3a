#include "oas/study/detail/unit_records.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/version.hpp"
#include "oas/study/kinds.hpp"

namespace oas::detail {

namespace {

// number, the seven of the key, status, message, seconds, lines, checksum of rows, checksum.
constexpr const char* kUnits =
    "SELECT number, study, task, kind, replication, seed, version, library, status, message, "
    "seconds, lines, rows_checksum, checksum FROM units ";
constexpr const char* kUnitsOfFirstFormat =
    "SELECT number, study, task, kind, replication, seed, version, '', status, message, "
    "seconds, 0, checksum, '' FROM units ";
constexpr int kStatus = 8;
constexpr int kChecked = 13;  // columns before the checksum

constexpr const char* kSessions =
    "SELECT number, started, seconds, threads, machine, version, units, checksum FROM sessions "
    "ORDER BY number";
constexpr const char* kSessionsOfFirstFormat =
    "SELECT rowid, started, seconds, threads, machine, version, units, '' FROM sessions "
    "ORDER BY rowid";
constexpr int kCheckedOfSession = 7;

std::vector<Cell> first_cells(const Statement& row, int count) {
  std::vector<Cell> cells;
  for (int c = 0; c < count; ++c) cells.push_back(row.cell(c));
  return cells;
}

// What the first format took the checksum of.
std::string checksum_of_text(const ResultRows& rows) {
  std::string text;
  for (const ResultRow& row : rows) text += to_csv(row);
  return fmt::format("{:016x}", fingerprint(text));
}

std::uint64_t hexadecimal(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// A reader sees one moment of a file that somebody else is writing.
class Snapshot {
 public:
  explicit Snapshot(const Database& database) : database_(&database) { database.run("BEGIN"); }
  ~Snapshot() { database_->roll_back(); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  const Database* database_;
};

}  // namespace

UnitRecords::UnitRecords(const Database& database, const Study& study, StoreFormat format,
                         const StoreMaker& maker)
    : database_(&database), study_(&study), format_(format), hash_(study.hash()), maker_(maker) {}

std::vector<Cell> UnitRecords::key(std::int64_t number) const {
  const Unit unit = study_->unit(number);
  const Task& task = study_->tasks[unit.task];
  return {hash_,
          task.name,
          task.kind,
          std::int64_t{unit.replication},
          static_cast<std::int64_t>(task.seed),
          maker_.version,
          maker_.library};
}

UnitHead UnitRecords::checked(const Statement& row) const {
  const std::vector<Cell> cells = first_cells(row, kChecked);
  const auto* number = std::get_if<std::int64_t>(&cells[0]);
  if (number == nullptr || *number < 0 || *number >= study_->num_units()) {
    throw_damaged(*database_, fmt::format("there is no task {} in its study", to_csv(cells[0])));
  }
  const std::vector<Cell> expected = key(*number);
  const Cell& status = cells[kStatus];
  const bool failed = status == Cell{std::string("failed")};
  const bool sound = std::equal(expected.begin(), expected.end(), cells.begin() + 1) &&
                     (failed || status == Cell{std::string("done")}) &&
                     (format_ == StoreFormat::first || checksum_of(cells) == row.text(kChecked));
  if (!sound) throw_damaged(*database_, fmt::format("the record of task {} was changed", *number));
  return {*number,
          failed,
          row.text(kStatus + 1),
          row.number(kStatus + 2),
          row.text(kChecked - 1),
          row.text(kChecked)};
}

std::vector<UnitHead> UnitRecords::heads() const {
  Statement select(*database_,
                   std::string(format_ == StoreFormat::first ? kUnitsOfFirstFormat : kUnits) +
                       "ORDER BY number");
  std::vector<UnitHead> heads;
  while (select.step()) heads.push_back(checked(select));
  return heads;
}

std::optional<UnitHead> UnitRecords::head(std::int64_t number) const {
  Statement select(*database_,
                   std::string(format_ == StoreFormat::first ? kUnitsOfFirstFormat : kUnits) +
                       "WHERE number = ?");
  select.bind(number);
  if (!select.step()) return std::nullopt;
  return checked(select);
}

ResultRows UnitRecords::rows(const UnitHead& head) const {
  const Task& task = study_->tasks[study_->unit(head.number).task];
  const std::size_t columns = find_task_kind(task.kind).columns.size();
  Statement select(*database_,
                   fmt::format("SELECT * FROM \"{}\" WHERE unit = ? ORDER BY line", task.kind));
  select.bind(head.number);
  if (static_cast<std::size_t>(select.num_columns()) != columns + 2) {
    throw_damaged(*database_, fmt::format("the table '{}' has {} columns, {} are expected",
                                          task.kind, select.num_columns(), columns + 2));
  }
  ResultRows rows;
  while (select.step()) {
    ResultRow row = first_cells(select, select.num_columns());
    row.erase(row.begin(), row.begin() + 2);
    rows.push_back(std::move(row));
  }
  const bool sound = format_ == StoreFormat::first
                         ? checksum_of_text(rows) == head.rows_checksum &&
                               rows.empty() == head.failed  // its checksum left the status out
                         : checksum_of(rows) == head.rows_checksum;
  if (!sound) {
    throw_damaged(*database_, fmt::format("the rows of task {} were changed", head.number));
  }
  return rows;
}

std::optional<std::int64_t> UnitRecords::expected_units() const {
  if (format_ == StoreFormat::first) return std::nullopt;
  const Cell units = database_->value("SELECT units FROM tally");
  const auto* count = std::get_if<std::int64_t>(&units);
  return count == nullptr ? std::nullopt : std::optional(*count);
}

void UnitRecords::check() const {
  const Snapshot snapshot(*database_);
  std::uint64_t sum = 0;
  std::int64_t units = 0;
  for (const UnitHead& head : heads()) {
    sum += hexadecimal(head.checksum);
    ++units;
  }
  if (format_ == StoreFormat::first) return;
  Statement select(*database_, "SELECT units, sum FROM tally");
  if (!select.step() || select.cell(0) != Cell{units} ||
      select.cell(1) != Cell{fmt::format("{:016x}", sum)}) {
    throw_damaged(*database_, fmt::format("it holds {} tasks, which are not those that were stored "
                                          "in it",
                                          units));
  }
}

void UnitRecords::add_to_tally(std::int64_t units, std::uint64_t sum) const {
  const std::uint64_t before = hexadecimal(to_text(database_->value("SELECT sum FROM tally")));
  Statement update(*database_, "UPDATE tally SET units = units + ?, sum = ?");
  update.bind(units).bind(fmt::format("{:016x}", before + sum)).step();
}

void UnitRecords::add(const UnitResult& result) const {
  const Task& task = study_->tasks[study_->unit(result.number).task];
  if (const std::optional<UnitHead> before = head(result.number)) {
    OAS_REQUIRE(before->failed, "{}: task {} is there already", database_->path(), result.number);
    add_to_tally(-1, -hexadecimal(before->checksum));
  }
  std::vector<Cell> cells = {result.number};
  for (Cell& cell : key(result.number)) cells.push_back(std::move(cell));
  for (Cell cell : {Cell{std::string(result.failed ? "failed" : "done")}, Cell{result.message},
                    Cell{result.seconds}, Cell{static_cast<std::int64_t>(result.rows.size())},
                    Cell{checksum_of(result.rows)}}) {
    cells.push_back(std::move(cell));
  }
  cells.emplace_back(checksum_of(cells));
  Statement insert(*database_,
                   "INSERT OR REPLACE INTO units VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Cell& cell : cells) insert.bind(cell);
  insert.step();
  add_to_tally(1, hexadecimal(to_text(cells.back())));
  // Rows without a unit can be there in a file that was damaged.
  Statement clear(*database_, fmt::format("DELETE FROM \"{}\" WHERE unit = ?", task.kind));
  clear.bind(result.number).step();
  std::string marks = "?, ?";
  for (std::size_t i = 0; i < find_task_kind(task.kind).columns.size(); ++i) marks += ", ?";
  Statement add(*database_, fmt::format("INSERT INTO \"{}\" VALUES({})", task.kind, marks));
  std::int64_t line = 0;
  for (const ResultRow& row : result.rows) {
    add.reset();
    add.bind(result.number).bind(line++);
    for (const Cell& cell : row) add.bind(cell);
    add.step();
  }
}

std::vector<Session> UnitRecords::sessions() const {
  Statement select(*database_, format_ == StoreFormat::first ? kSessionsOfFirstFormat : kSessions);
  std::vector<Session> sessions;
  while (select.step()) {
    if (format_ != StoreFormat::first &&
        checksum_of(first_cells(select, kCheckedOfSession)) != select.text(kCheckedOfSession)) {
      throw_damaged(*database_, "the record of a run was changed");
    }
    sessions.push_back({select.text(1), select.number(2), static_cast<int>(select.integer(3)),
                        select.text(4), select.text(5), select.integer(6), select.integer(0)});
  }
  return sessions;
}

void UnitRecords::add(const Session& session) const {
  std::vector<Cell> cells = {
      session.number,  session.started, session.seconds, std::int64_t{session.threads},
      session.machine, session.version, session.units};
  cells.emplace_back(checksum_of(cells));
  Statement insert(*database_, "INSERT OR REPLACE INTO sessions VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Cell& cell : cells) insert.bind(cell);
  insert.step();
}

}  // namespace oas::detail
