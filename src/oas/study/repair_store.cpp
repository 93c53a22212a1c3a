#include "oas/study/repair_store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/study/detail/unit_records.hpp"

namespace oas {

namespace {

namespace fs = std::filesystem;
using detail::Database;
using detail::FolderLock;
using detail::StoreFormat;
using detail::Transaction;
using detail::UnitHead;
using detail::UnitRecords;

// Whether an action finds no damage.
template <class Action>
bool holds(const Action& action) {
  try {
    action();
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

void require_first_format(const Database& database) {
  OAS_REQUIRE(detail::format_of(database) == StoreFormat::first, "it has another format");
}

// What the units of a repaired store belong to: the study that the file holds, where that is whole.
Study study_of(const Database& damaged, const std::optional<Study>& given) {
  const bool whole = holds([&] { detail::check_facts(damaged); });
  if (!whole) {
    OAS_REQUIRE(!holds([&] { require_first_format(damaged); }),
                "{}: was made by an earlier oas, whose results can be read but not repaired; run "
                "the study in another folder (-o)",
                damaged.path());
    OAS_REQUIRE(given.has_value(),
                "{}: what it says of its study is damaged, too; name the study's file: oas study "
                "repair FOLDER --study FILE (with --quick for the quick version)",
                damaged.path());
    return *given;
  }
  Study study = detail::stored_study(damaged);
  detail::check_same_study(damaged, given.value_or(study));
  return study;
}

bool is_sound(const Database& database, const Study& study) {
  return holds([&] {
    if (detail::format_of(database) != StoreFormat::current) throw InvalidArgument("format");
    detail::check_facts(database);
    const UnitRecords records(database, study, StoreFormat::current, detail::this_program());
    records.check();
    for (const UnitHead& head : records.heads()) static_cast<void>(records.rows(head));
    static_cast<void>(records.sessions());
  });
}

struct Salvage {
  std::vector<std::int64_t> damaged;  // there, and not as they were
  std::vector<std::int64_t> missing;
  std::int64_t kept = 0;
};

// Unit by unit, so that what cannot be read costs only itself.
Salvage copy_units(const UnitRecords& from, const UnitRecords& to, const Study& study) {
  Salvage salvage;
  for (std::int64_t number = 0; number < study.num_units(); ++number) {
    bool there = false;
    const bool whole = holds([&] {
      const std::optional<UnitHead> head = from.head(number);
      if (!head) return;
      UnitResult unit{number, head->failed, head->message, head->seconds, from.rows(*head)};
      to.add(unit);
      there = true;
    });
    salvage.kept += there ? 1 : 0;
    if (!whole) salvage.damaged.push_back(number);
    if (!there) salvage.missing.push_back(number);
  }
  return salvage;
}

// Records of runs are for people; of damaged ones the others are kept.
void copy_sessions(const UnitRecords& from, const UnitRecords& to) {
  holds([&] {
    for (const Session& session : from.sessions()) to.add(session);
  });
}

std::string free_name(const std::string& path) {
  std::string name = path + ".damaged";
  for (int i = 2; fs::exists(name); ++i) name = fmt::format("{}.damaged-{}", path, i);
  return name;
}

// The old file gets a second name before the new one takes its place, so that there is no moment
// without one. A log beside the old file belongs to it and must not meet the new one.
void take_place(const std::string& fresh, const std::string& path, const std::string& aside) {
  if (link(path.c_str(), aside.c_str()) != 0) {
    throw IoError(fmt::format("{}: cannot be kept as {}: {}", path, aside, std::strerror(errno)));
  }
  std::error_code error;
  fs::rename(path + "-wal", aside + "-wal", error);
  fs::remove(path + "-shm", error);
  error.clear();
  fs::rename(fresh, path, error);
  if (error) throw IoError(fmt::format("{}: {}", path, error.message()));
  sync_folder_of(path);
}

}  // namespace

StoreRepair repair_store(const std::string& folder, const std::optional<Study>& given) {
  const std::string path = detail::results_path(folder);
  OAS_REQUIRE(fs::exists(path), "{}: no such file; run the study first", path);
  const FolderLock lock(folder);
  auto damaged = std::make_unique<Database>(path, Database::Mode::write);
  const Study study = study_of(*damaged, given);
  StoreRepair repair;
  if (is_sound(*damaged, study)) {
    const UnitRecords records(*damaged, study, StoreFormat::current, detail::this_program());
    repair.kept = static_cast<std::int64_t>(records.heads().size());
    repair.missing = study.num_units() - repair.kept;
    return repair;
  }
  const std::string fresh = path + ".repair";
  std::error_code error;
  fs::remove(fresh, error);  // of a repair that was killed
  Salvage salvage;
  std::optional<std::int64_t> expected;
  {
    const Database whole(fresh, Database::Mode::write);
    detail::create_tables(whole, study);
    const UnitRecords from(*damaged, study, StoreFormat::current, detail::this_program());
    const UnitRecords to(whole, study, StoreFormat::current, detail::this_program());
    Transaction transaction(whole);
    salvage = copy_units(from, to, study);
    copy_sessions(from, to);
    transaction.commit();
    holds([&] { expected = from.expected_units(); });
  }
  damaged.reset();
  repair.set_aside = free_name(path);
  take_place(fresh, path, repair.set_aside);
  repair.kept = salvage.kept;
  repair.missing = static_cast<std::int64_t>(salvage.missing.size());
  // Where units vanished without a trace, a study that was finished misses exactly those.
  const bool all_were_there = !expected || *expected - salvage.kept >= repair.missing;
  repair.again = all_were_there ? salvage.missing : salvage.damaged;
  return repair;
}

}  // namespace oas
