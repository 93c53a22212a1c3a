#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/parallel.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"

namespace oas::detail {

/// The test goes row by row; that many tell all that matters, and more would take hours.
inline constexpr std::int64_t kMostTestedRows = std::int64_t{1} << 28;
/// Rows before a part that tell its first belief.
inline constexpr std::size_t kFitBurnIn = std::size_t{1} << 11;

/// What was counted in pieces of a log, which are numbered. Neighbours are added up in pairs, pairs
/// in pairs and so on, by their numbers alone: to the bit the same total whoever has which pieces.
class FitSums {
 public:
  /// `fresh` has counted nothing.
  explicit FitSums(const SensorFitTest& fresh) : fresh_(fresh) {}

  /// The piece behind those that are there.
  void add(std::int64_t piece, SensorFitTest sum) { add({piece, 1, std::move(sum)}); }
  /// All pieces of another one are behind those that are there.
  void append(const FitSums& behind);
  [[nodiscard]] SensorFitTest total() const;

  void save(ByteWriter& out) const;
  /// In place of all.
  void load(ByteReader& in);

 private:
  struct Sum {
    std::int64_t first;
    std::int64_t pieces;  // a power of 2 that divides `first`
    SensorFitTest test;
  };
  void add(Sum sum);

  SensorFitTest fresh_;
  std::vector<Sum> sums_;
};

/// SensorFitTest of a long log on several threads, and of a rank's share of it. Rows are cut into
/// parts of 2^15 by position alone, some of which make a piece. A part takes its first belief from
/// a burn-in over the rows before; where that differs from the end of the part before by more than
/// 1e-13 (total variation), the part is done again from there. The same bits for any number of
/// threads and ranks; those of SensorFitTest up to one part.
class FitInParts {
 public:
  FitInParts(const Pomdp& model, Parallelism parallelism);

  /// The rows to come are rows first_row, first_row+1, … of the log, where a likelihood window
  /// begins; `guess` is what a burn-in over the rows before tells, `before` what they told.
  void go_on(std::int64_t first_row, const SensorFitTest& guess, const SensorFitTest& before);
  /// Whether a part that begins with that guess stands.
  [[nodiscard]] static bool same(const SensorFitTest& guess, const SensorFitTest& before);

  /// As SensorFitTest.
  void add(Action action, Observation observation, const RunStart* start);
  [[nodiscard]] SensorFit finish();

  /// Tests the rows that still wait.
  void test_all();
  /// The rest is only for rows that were tested: what was counted, and what is known after them.
  [[nodiscard]] const FitSums& sums() const { return sums_; }
  [[nodiscard]] const SensorFitTest& last() const { return last_; }
  [[nodiscard]] const SensorFitTest& fresh() const { return fresh_; }

 private:
  struct Rows {
    std::vector<Action> actions;
    std::vector<Observation> observations;
    std::vector<std::pair<std::size_t, RunStart>> starts;  // ascending rows
  };
  // Rows first … end-1 of those that wait; `counts`: not for the belief alone.
  void show(std::size_t first, std::size_t end, bool counts, SensorFitTest& test) const;

  Parallelism parallelism_;
  SensorFitTest fresh_;
  SensorFitTest guess_;  // of the belief before the rows that wait, from a burn-in
  SensorFitTest last_;   // the belief that the rows before them came to
  FitSums sums_;
  std::size_t parts_of_piece_;
  std::int64_t piece_ = 0;  // of the rows that wait
  Rows rows_;
};

}  // namespace oas::detail
