#include "oas/study/detail/result_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/version.hpp"
#include "oas/study/kinds.hpp"

namespace oas::detail {

namespace {

constexpr std::int64_t kApplicationId = 0x6f617372;  // "oasr"
constexpr std::int64_t kFirstFormat = 1;
constexpr std::int64_t kFormat = 2;

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

// Over all other facts, in the order of their keys.
std::string facts_checksum(const Database& database) {
  Statement select(database, "SELECT key, value FROM study WHERE key <> 'checksum' ORDER BY key");
  std::vector<Cell> cells;
  while (select.step()) {
    cells.push_back(select.cell(0));
    cells.push_back(select.cell(1));
  }
  return checksum_of(cells);
}

void put_fact(const Database& database, const std::string& key, const std::string& value) {
  Statement insert(database, "INSERT OR REPLACE INTO study VALUES(?, ?)");
  insert.bind(key).bind(value).step();
}

// Typed and, for texts, with the length, so that no two lists of cells read the same.
void append_typed(std::string& text, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    text += fmt::format("i{};", *integer);
  } else if (const auto* number = std::get_if<double>(&cell); number && std::isfinite(*number)) {
    text += fmt::format("d{:x};", std::bit_cast<std::uint64_t>(*number));
  } else if (const auto* words = std::get_if<std::string>(&cell)) {
    text += fmt::format("s{}:{};", words->size(), *words);
  } else {
    text += "n;";  // what is not finite is stored as nothing
  }
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

}  // namespace

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw_cannot_open(folder, errno);
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  close(descriptor_);
  throw_invalid_argument(
      fmt::format("{}: another process is running a study in this folder", folder));
}

FolderLock::~FolderLock() { close(descriptor_); }

std::string results_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "results.sqlite").string();
}

void throw_damaged(const Database& database, const std::string& what) {
  throw_invalid_argument(fmt::format(
      "{}: is damaged: {}; 'oas study repair {}' keeps the undamaged part and "
      "computes the rest again",
      database.path(), what, std::filesystem::path(database.path()).parent_path().string()));
}

std::string checksum_of(const std::vector<Cell>& cells) { return checksum_of(ResultRows{cells}); }

std::string checksum_of(const ResultRows& rows) {
  Fingerprint print;
  std::string text;
  for (const ResultRow& row : rows) {
    text.clear();
    for (const Cell& cell : row) append_typed(text, cell);
    text += '\n';
    print.add_bytes(text);
  }
  return fmt::format("{:016x}", print.value());
}

StoreFormat format_of(const Database& database) {
  const Cell id = database.value("PRAGMA application_id");
  if (id == Cell{std::int64_t{0}} &&
      database.value("SELECT count(*) FROM sqlite_master") == Cell{std::int64_t{0}}) {
    return StoreFormat::empty;
  }
  OAS_REQUIRE(id == Cell{kApplicationId},
              "{}: is an SQLite file, but not one with results of oas; nothing was "
              "changed",
              database.path());
  const Cell format = database.value("PRAGMA user_version");
  OAS_REQUIRE(format == Cell{kFormat} || format == Cell{kFirstFormat},
              "{}: has format {}; this program reads formats {} and {}", database.path(),
              to_csv(format), kFirstFormat, kFormat);
  const Cell sound = database.value("PRAGMA quick_check(1)");
  if (sound != Cell{std::string("ok")}) throw_damaged(database, to_csv(sound));
  return format == Cell{kFormat} ? StoreFormat::current : StoreFormat::first;
}

void create_tables(const Database& database, const Study& study) {
  Transaction transaction(database);
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.run(fmt::format("PRAGMA user_version = {}", kFormat));
  database.run("CREATE TABLE study(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID");
  database.run(
      "CREATE TABLE units(number INTEGER PRIMARY KEY, study TEXT, task TEXT, kind TEXT, "
      "replication INTEGER, seed INTEGER, version TEXT, library TEXT, status TEXT, message TEXT, "
      "seconds REAL, lines INTEGER, rows_checksum TEXT, checksum TEXT)");
  database.run("CREATE TABLE tally(units INTEGER, sum TEXT)");
  database.run("INSERT INTO tally VALUES(0, '0000000000000000')");
  database.run(
      "CREATE TABLE sessions(number INTEGER PRIMARY KEY, started TEXT, seconds REAL, "
      "threads INTEGER, machine TEXT, version TEXT, units INTEGER, checksum TEXT)");
  for (const std::string& kind : kinds_of(study)) {
    database.run(fmt::format(
        "CREATE TABLE \"{}\"(unit INTEGER, line INTEGER{}, PRIMARY KEY(unit, line)) WITHOUT ROWID",
        kind, quoted_columns(find_task_kind(kind))));
  }
  const std::pair<const char*, std::string> facts[] = {
      {"name", study.name},
      {"hash", study.hash()},
      {"canonical", study.canonical()},
      {"file", study.file},
      {"source", study.source},
      {"quick", study.quick ? "1" : "0"},
      {"version", version()},
      {"library", maths_library().fingerprint},
      {"library_name", maths_library().name},
  };
  for (const auto& [key, value] : facts) put_fact(database, key, value);
  put_fact(database, "checksum", facts_checksum(database));
  transaction.commit();
}

std::string fact(const Database& database, const std::string& key) {
  Statement select(database, "SELECT value FROM study WHERE key = ?");
  select.bind(key);
  if (!select.step()) throw_damaged(database, fmt::format("it does not say its {}", key));
  return select.text(0);
}

StoreMaker this_program() { return {version(), maths_library().fingerprint}; }

StoreMaker stored_maker(const Database& database, StoreFormat format) {
  return {fact(database, "version"),
          format == StoreFormat::current ? fact(database, "library") : ""};
}

void check_facts(const Database& database) {
  if (facts_checksum(database) != fact(database, "checksum")) {
    throw_damaged(database, "what it says of its study was changed");
  }
}

Study stored_study(const Database& database) {
  Study study =
      parse_study(fact(database, "source"), fact(database, "file"), fact(database, "quick") == "1");
  OAS_REQUIRE(study.hash() == fact(database, "hash"),
              "{}: this program reads the stored study differently than version {} that made it",
              database.path(), fact(database, "version"));
  return study;
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
  OAS_REQUIRE(fact(database, "library") == maths_library().fingerprint,
              "{}: was made with another library of mathematical functions ({}, {}; here {}, {}), "
              "whose results differ in their last digits; results of both must not be mixed, so "
              "choose another folder (-o)",
              database.path(), fact(database, "library_name"), fact(database, "library"),
              maths_library().name, maths_library().fingerprint);
}

void update_text(const Database& database, const Study& study) {
  if (fact(database, "source") == study.source && fact(database, "file") == study.file) return;
  Transaction transaction(database);
  put_fact(database, "source", study.source);
  put_fact(database, "file", study.file);
  put_fact(database, "checksum", facts_checksum(database));
  transaction.commit();
}

}  // namespace oas::detail
