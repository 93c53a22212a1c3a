#pragma once

#include <string>

#include "oas/logs/detail/run_names.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas::detail {

/// What units are called where a log is several files, each of which starts a run. Names are those
/// of the files' own column `run`, and must not come again in another file: nobody could tell how
/// the unit goes on. Numbers, unless the files are shards of one log, are counted anew in every
/// file: "pumps/a.csv:0". A file without that column is one unit, which has the name of the file.
class UnitNames {
 public:
  explicit UnitNames(bool one_log) : one_log_(one_log) {}

  void begin_file(std::string file, bool has_run);
  /// Names the runs of the file's next block. Throws ParseError when one comes again.
  void name(LogBlock& block);

 private:
  [[nodiscard]] std::string name_of(const std::string& run) const;

  bool one_log_;
  std::string file_;
  bool has_run_ = false;
  RunNames names_;
};

}  // namespace oas::detail
