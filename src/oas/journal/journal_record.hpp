#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/trajectory.hpp"

/// What stands in a journal. See docs/reference/live.md for the bytes.
namespace oas {

/// The first record of every file of a journal: whose it is.
struct JournalHeader {
  std::string model;           ///< fingerprint of what learners see of it, 16 hexadecimal digits
  std::string agent;           ///< name, settings, seed and what else must agree, for people
  bool after = false;          ///< the model's timing
  bool reading_first = false;  ///< how its rows are written
  int num_states = 0;          ///< likelihoods of a row
  int dimension = 0;           ///< of a reading; 0: observations are finite
  int segment = 1;             ///< number of the file, from 1
  std::uint64_t sequence = 0;  ///< number of the file's first record after this one

  friend bool operator==(const JournalHeader&, const JournalHeader&) = default;
};

/// What happened in one step: the action that was taken and what was seen.
struct JournalRow {
  Action action{-1};                 ///< -1: none, this is a first reading
  std::optional<double> propensity;  ///< absent: not known
  bool by_others = false;            ///< somebody else chose the action
  Observation observation = kMissing;
  std::vector<double> reading;      ///< in place of the observation
  std::vector<double> likelihoods;  ///< [s], in place of the observation

  [[nodiscard]] bool missing() const {
    return observation == kMissing && reading.empty() && likelihoods.empty();
  }

  friend bool operator==(const JournalRow&, const JournalRow&) = default;
};

enum class JournalKind : std::uint8_t {
  header = 1,
  begin,    ///< a run of a unit begins
  act,      ///< an action was chosen
  observe,  ///< a row came to an end
  step,     ///< both: the row of `step`, the choice of the step after
  plan,     ///< a plan came into force
  end,      ///< a run of a unit ends
  change,   ///< the rows so far are forgotten, since the dynamics have changed
};

/// One record; the fields that its kind does not have keep their defaults.
struct JournalRecord {
  JournalKind kind = JournalKind::end;
  std::uint64_t run = 0;  ///< of begin … end: runs are numbered in the order in which they begin
  std::int64_t step = 0;  ///< of act, observe, step, end; -1 for a first reading
  JournalRow row;         ///< of observe, step
  double choice_propensity = 1.0;  ///< of act, step
  Action choice;                   ///< of act, step
  std::string text;  ///< of begin: the unit's name; of plan: the plan; of header: JSON

  friend bool operator==(const JournalRecord&, const JournalRecord&) = default;
};

[[nodiscard]] std::string to_bytes(const JournalRecord& record);
/// Throws InvalidArgument on bytes that are no record.
[[nodiscard]] JournalRecord parse_journal_record(std::string_view bytes);

[[nodiscard]] JournalRecord header_record(const JournalHeader& header);
/// Throws InvalidArgument when the record is none or of a format that is not known.
[[nodiscard]] JournalHeader journal_header(const JournalRecord& record);

/// Whether that is a folder with a journal in it.
[[nodiscard]] bool holds_journal(const std::string& path);

}  // namespace oas
