#include "oas/study/result_store.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/study/detail/unit_records.hpp"
#include "oas/study/kinds.hpp"

namespace oas {

namespace {

using detail::Database;
using detail::FolderLock;
using detail::StoreFormat;
using detail::Transaction;
using detail::UnitHead;
using detail::UnitRecords;

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  OAS_REQUIRE(!error, "{}: cannot be made: {}", folder, error.message());
}

}  // namespace

struct ResultStore::Impl {
  std::string folder;
  std::unique_ptr<FolderLock> lock;
  Database database;
  Study study;
  std::optional<UnitRecords> records;  // points to the two before it
};

ResultStore::ResultStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResultStore::~ResultStore() = default;
ResultStore::ResultStore(ResultStore&&) noexcept = default;
ResultStore& ResultStore::operator=(ResultStore&&) noexcept = default;

ResultStore ResultStore::open(const std::string& folder, const Study& study) {
  make_folder(folder);
  auto lock = std::make_unique<FolderLock>(folder);
  auto impl = std::unique_ptr<Impl>(new Impl{
      folder, std::move(lock), {detail::results_path(folder), Database::Mode::write}, study, {}});
  const Database& database = impl->database;
  const StoreFormat format = detail::format_of(database);
  OAS_REQUIRE(format != StoreFormat::first,
              "{}: was made by an earlier oas, whose results can be read but not continued; choose "
              "another folder (-o)",
              database.path());
  if (format == StoreFormat::empty) {
    detail::create_tables(database, study);
  } else {
    detail::check_facts(database);
    detail::check_same_study(database, study);
  }
  impl->records.emplace(database, impl->study, StoreFormat::current, detail::this_program());
  impl->records->check();
  detail::update_text(database, study);
  impl->database.write_ahead();
  return ResultStore(std::move(impl));
}

ResultStore ResultStore::open_existing(const std::string& folder) {
  const std::string path = detail::results_path(folder);
  OAS_REQUIRE(std::filesystem::exists(path), "{}: no such file; run the study first", path);
  auto impl =
      std::unique_ptr<Impl>(new Impl{folder, nullptr, {path, Database::Mode::read}, Study{}, {}});
  const Database& database = impl->database;
  const StoreFormat format = detail::format_of(database);
  OAS_REQUIRE(format != StoreFormat::empty, "{}: is empty; run the study first", path);
  if (format == StoreFormat::current) detail::check_facts(database);
  impl->study = detail::stored_study(database);
  impl->records.emplace(database, impl->study, format, detail::stored_maker(database, format));
  impl->records->check();
  return ResultStore(std::move(impl));
}

const Study& ResultStore::study() const { return impl_->study; }
const std::string& ResultStore::folder() const { return impl_->folder; }
std::string ResultStore::version() const { return detail::fact(impl_->database, "version"); }

std::vector<std::int64_t> ResultStore::finished() const {
  std::vector<std::int64_t> numbers;
  for (const UnitHead& head : impl_->records->heads()) {
    if (!head.failed) numbers.push_back(head.number);
  }
  return numbers;
}

std::vector<UnitResult> ResultStore::failures() const {
  std::vector<UnitResult> failed;
  for (const UnitHead& head : impl_->records->heads()) {
    if (head.failed) failed.push_back({head.number, true, head.message, head.seconds, {}});
  }
  return failed;
}

UnitResult ResultStore::unit(std::int64_t number) const {
  const std::optional<UnitHead> head = impl_->records->head(number);
  OAS_REQUIRE(head.has_value(), "{}: task {} is not there yet", impl_->database.path(), number);
  return {number, head->failed, head->message, head->seconds, impl_->records->rows(*head)};
}

ResultTable ResultStore::table(const std::string& kind) const {
  ResultTable table{kind, {std::begin(kKeyColumns), std::end(kKeyColumns)}, {}};
  for (const std::string_view column : find_task_kind(kind).columns) {
    table.columns.emplace_back(column);
  }
  for (const UnitHead& head : impl_->records->heads()) {
    const Unit unit = impl_->study.unit(head.number);
    const Task& task = impl_->study.tasks[unit.task];
    if (head.failed || task.kind != kind) continue;
    for (ResultRow& row : impl_->records->rows(head)) {
      ResultRow whole = {unit.number, task.sweep, std::int64_t{unit.replication},
                         static_cast<std::int64_t>(task.seed)};
      whole.insert(whole.end(), std::make_move_iterator(row.begin()),
                   std::make_move_iterator(row.end()));
      table.rows.push_back(std::move(whole));
    }
  }
  return table;
}

std::map<std::int64_t, double> ResultStore::seconds() const {
  std::map<std::int64_t, double> seconds;
  for (const UnitHead& head : impl_->records->heads()) {
    if (!head.failed) seconds[head.number] = head.seconds;
  }
  return seconds;
}

double ResultStore::total_seconds() const {
  double seconds = 0.0;
  for (const UnitHead& head : impl_->records->heads()) seconds += head.seconds;
  return seconds;
}

std::vector<Session> ResultStore::sessions() const { return impl_->records->sessions(); }

void ResultStore::record(const UnitResult& result) {
  Transaction transaction(impl_->database);
  impl_->records->add(result);
  transaction.commit();
}

void ResultStore::record(Session& session) {
  Transaction transaction(impl_->database);
  if (session.number == 0) {
    session.number = std::get<std::int64_t>(
        impl_->database.value("SELECT coalesce(max(number), 0) + 1 FROM sessions"));
  }
  impl_->records->add(session);
  transaction.commit();
}

}  // namespace oas
