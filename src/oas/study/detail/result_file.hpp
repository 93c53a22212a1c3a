#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oas/study/detail/sqlite.hpp"
#include "oas/study/study.hpp"

/// What results.sqlite says of itself: its format, and facts about its study.
namespace oas::detail {

/// Only one process may add results: a lock on the folder, which vanishes with the process.
class FolderLock {
 public:
  /// Throws InvalidArgument when the folder is not there or another process has the lock.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

[[nodiscard]] std::string results_path(const std::string& folder);

/// `first` had checksums of rows only, and is read but not continued.
enum class StoreFormat { empty, first, current };

/// Throws InvalidArgument on a file that is none of ours, of a later format, or damaged.
[[nodiscard]] StoreFormat format_of(const Database& database);

/// Throws InvalidArgument: the file is damaged in the way that `what` says, and how to mend it.
[[noreturn]] void throw_damaged(const Database& database, const std::string& what);

/// 16 hexadecimal digits of cells with their types: 1, 1.0 and "1" differ.
[[nodiscard]] std::string checksum_of(const std::vector<Cell>& cells);
[[nodiscard]] std::string checksum_of(const ResultRows& rows);

/// The program that computed the units of a store.
struct StoreMaker {
  std::string version;
  std::string library;  ///< fingerprint of its maths library
};
[[nodiscard]] StoreMaker this_program();

/// Makes all tables, for the units that this program will compute of this study.
void create_tables(const Database& database, const Study& study);

/// One fact of the table `study`. Throws InvalidArgument when it is not there.
[[nodiscard]] std::string fact(const Database& database, const std::string& key);
[[nodiscard]] StoreMaker stored_maker(const Database& database, StoreFormat format);
/// Throws InvalidArgument when the facts are not those that were written.
void check_facts(const Database& database);
/// The study as it was written. Facts must have been checked.
[[nodiscard]] Study stored_study(const Database& database);
/// Throws InvalidArgument unless results of this study, by this program, may be added.
void check_same_study(const Database& database, const Study& study);
/// Prose and figures may change while the results stay valid: the newest text counts.
void update_text(const Database& database, const Study& study);

}  // namespace oas::detail
