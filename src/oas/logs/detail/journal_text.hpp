#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "oas/journal/journal_reader.hpp"
#include "oas/logs/byte_source.hpp"

namespace oas::detail {

/// The rows of a live agent's journal as the text of a log: one line for each step that was
/// observed, in the order of the journal, so that units are interleaved. A unit's second run is
/// called "name run 2". Propensities are there where every row has one, and likelihoods in place of
/// observations where rows brought those, which is found out by reading the journal once before.
class JournalText final : public ByteSource {
 public:
  /// Throws InvalidArgument when there is no journal in that folder, on damage, and when some rows
  /// bring likelihoods and others observations.
  explicit JournalText(const std::string& folder);

  std::size_t read(char* out, std::size_t size) override;

 private:
  struct Run {
    std::string name;   // as it stands in a cell
    std::string first;  // of rows that are reading-first: the cells of the reading before
  };

  void survey(const std::string& folder);
  [[nodiscard]] std::string names_of_seen() const;
  void write_header();
  void write(const JournalRecord& record);
  void write_row(Run& run, const JournalRow& row);
  void write_end(const Run& run);
  void begin(const JournalRecord& record);
  [[nodiscard]] std::string cells_of(const JournalRow& row) const;

  JournalReader reader_;
  bool propensities_ = true;
  bool likelihoods_ = false;
  std::map<std::uint64_t, Run> runs_;
  std::map<std::string, std::int64_t> begun_;  // by unit
  std::set<std::string> names_;                // of runs
  std::string text_;
  std::size_t given_ = 0;
  bool ended_ = false;
};

}  // namespace oas::detail
