#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oas/study/detail/result_file.hpp"
#include "oas/study/result_store.hpp"

namespace oas::detail {

/// A unit without its rows, as it is stored.
struct UnitHead {
  std::int64_t number = 0;
  bool failed = false;
  std::string message;
  double seconds = 0.0;
  std::string rows_checksum;
  std::string checksum;  ///< of all above, the unit's key and the number of rows
};

/// The units in results.sqlite. Everything that is given out was compared with the plan (which
/// task, kind, replication and seed a number has) and with its checksum; a tally, written in the
/// same transactions, tells when a unit vanished with all its rows. All functions throw
/// InvalidArgument on damage. Writing is for the current format only, and within a Transaction.
class UnitRecords {
 public:
  UnitRecords(const Database& database, const Study& study, StoreFormat format,
              const StoreMaker& maker);

  /// Whether everything is as it was written, rows apart; those are checked when they are read.
  void check() const;
  [[nodiscard]] std::vector<UnitHead> heads() const;  ///< by number
  [[nodiscard]] std::optional<UnitHead> head(std::int64_t number) const;
  [[nodiscard]] ResultRows rows(const UnitHead& head) const;
  /// How many units there should be; nothing when that cannot be known.
  [[nodiscard]] std::optional<std::int64_t> expected_units() const;
  [[nodiscard]] std::vector<Session> sessions() const;

  /// Adds a unit, in place of an earlier failure of it. Throws when it is there and did not fail.
  void add(const UnitResult& result) const;
  void add(const Session& session) const;

 private:
  [[nodiscard]] UnitHead checked(const Statement& row) const;
  [[nodiscard]] std::vector<Cell> key(std::int64_t number) const;
  void add_to_tally(std::int64_t units, std::uint64_t sum) const;

  const Database* database_;
  const Study* study_;
  StoreFormat format_;
  std::string hash_;
  StoreMaker maker_;
};

}  // namespace oas::detail
