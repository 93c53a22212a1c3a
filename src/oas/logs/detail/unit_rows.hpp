#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oas/logs/log_reader.hpp"

namespace oas::detail {

/// Rows of one unit as they stood in the file.
struct UnitPiece {
  Trajectory rows;
  std::vector<double> readings;
  std::vector<double> likelihoods;
  std::vector<double> times;
  std::vector<long> lines;

  [[nodiscard]] std::size_t size() const { return rows.size(); }
  [[nodiscard]] std::size_t bytes() const;
  void clear() { *this = {}; }
};

/// The rows of interleaved units, sorted apart: units in the order of their first rows, rows in
/// that of the file. Up to a limit they are kept in memory; beyond, they go to a temporary file
/// without name, so that memory grows with the number of units only, of which there is a limit.
class UnitRows {
 public:
  static constexpr std::size_t kMemory = std::size_t{64} << 20;
  static constexpr std::size_t kMostUnits = 1'000'000;
  static constexpr std::size_t kMostBytesOfNames = std::size_t{64} << 20;

  explicit UnitRows(std::size_t memory = kMemory) : memory_(memory) {}

  /// The number of a unit; a new one where the name is. Throws InvalidArgument beyond the limits.
  [[nodiscard]] std::size_t unit(std::string_view name);
  [[nodiscard]] const std::string& name(std::size_t unit) const { return *units_[unit].name; }
  [[nodiscard]] std::size_t size() const { return units_.size(); }

  /// Row `row` of a block, in line `line`, at `time` if times are kept.
  void add(std::size_t unit, const LogBlock& block, std::size_t row, long line, const double* time);
  /// The time of the last row of a unit; null: it has none yet, or no times.
  [[nodiscard]] const double* last_time(std::size_t unit) const;

  /// The next rows of a unit, each once; false when there are no more. Throws IoError.
  [[nodiscard]] bool next_piece(std::size_t unit, UnitPiece& piece);

 private:
  struct Spilled {
    long offset;
    std::size_t bytes;
  };
  struct Unit {
    const std::string* name = nullptr;
    UnitPiece rows;                // in memory, the last ones
    std::vector<Spilled> spilled;  // those before
    std::size_t taken = 0;         // pieces that were handed out
    bool timed = false;
    double last_time = 0.0;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void spill();

  std::size_t memory_;
  std::size_t bytes_ = 0;
  std::size_t name_bytes_ = 0;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> numbers_;
  std::vector<Unit> units_;
  std::size_t last_unit_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
  long end_ = 0;  // of the file
};

}  // namespace oas::detail
