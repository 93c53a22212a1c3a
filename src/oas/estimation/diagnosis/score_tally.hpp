#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/core/parallel.hpp"
#include "oas/estimation/diagnosis/score_walk.hpp"

namespace oas {

/// A cut of the rows into cells: stretches of time, or units.
struct RowCells {
  std::vector<int> of_row;
  int count = 0;
};

/// Sums of prediction scores over cells of the rows: those of the log, their information, and
/// `replicates` sets of sums that might have come instead. A replicate draws each row's score anew
/// from those of its other readings, given the rows before as they were. So replicates know of rare
/// events, of short logs and of policies that react, and their law is that of the log's own sums
/// when the model is true. O(rows · replicates · d). Same bits for any number of threads.
class ScoreTally {
 public:
  /// Replicates are fewer, but at least kFewest, where their sums would not fit into the memory.
  static constexpr int kFewest = 199;

  ScoreTally(std::vector<RowCells> cuts, Eigen::Index size, int replicates, std::uint64_t seed,
             Parallelism parallelism);

  void add(const ScoredRow& row);
  void finish() { flush(); }

  [[nodiscard]] int replicates() const { return replicates_; }
  [[nodiscard]] std::int64_t rows() const { return count_; }
  [[nodiscard]] int cells(std::size_t cut) const { return cuts_[cut].count; }
  [[nodiscard]] const Matrix& sums(std::size_t cut) const { return sums_[cut]; }
  /// Of one cell: Σ E[score scoreᵀ | rows before].
  [[nodiscard]] const Matrix& information(std::size_t cut, int cell) const {
    return information_[cut][static_cast<std::size_t>(cell)];
  }
  [[nodiscard]] Matrix information() const;
  /// [cell][coordinate]
  [[nodiscard]] MatrixView replicate(std::size_t cut, int index) const;

 private:
  static constexpr std::size_t kChunkRows = 512;
  static constexpr int kTask = 16;  // replicates

  void flush();
  void draw(int replicate);

  std::vector<RowCells> cuts_;
  Eigen::Index size_;
  int replicates_;
  std::uint64_t seed_;
  Parallelism parallelism_;
  std::vector<Matrix> sums_;                      // [cut]
  std::vector<std::vector<Matrix>> information_;  // [cut][cell]
  std::vector<std::vector<double>> drawn_;        // [cut][replicate][cell][coordinate]
  Matrix square_;
  std::int64_t count_ = 0;
  // Rows that the replicates have not drawn yet.
  std::vector<std::size_t> rows_;
  std::vector<std::size_t> ends_;  // of their other readings
  std::vector<double> others_;     // [reading][coordinate]
  std::vector<double> cumulated_;  // [reading]: weights up to it
};

}  // namespace oas
