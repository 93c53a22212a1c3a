#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"

namespace oas {

/// How often three symbols followed each other, in several blocks: N_b(x1,x2,x3), the sufficient
/// statistic of the spectral estimators. What a block and a symbol are is up to the user; a
/// TripleFolder makes blocks of actions and symbols of rows. Integers: merging is associative and
/// commutative to the bit. blocks · d1 · d2 · d3 counters.
class TripleCounts {
 public:
  /// More counters than this are refused.
  static constexpr std::int64_t kMaxCells = std::int64_t{1} << 24;

  /// `sizes` are d1, d2, d3. Throws InvalidArgument on sizes below 1 or too many counters.
  TripleCounts(int num_blocks, std::array<int, 3> sizes);

  /// Counts one triple; indices are not checked.
  void add(int block, int x1, int x2, int x3) {
    ++counts_[((static_cast<std::size_t>(block) * static_cast<std::size_t>(sizes_[0]) +
                static_cast<std::size_t>(x1)) *
                   static_cast<std::size_t>(sizes_[1]) +
               static_cast<std::size_t>(x2)) *
                  static_cast<std::size_t>(sizes_[2]) +
              static_cast<std::size_t>(x3)];
  }

  /// Adds the counts of another collection of the same sizes.
  void merge(const TripleCounts& other);
  void clear();

  /// N_b(x1,x2,x3) as [x1][x2][x3].
  [[nodiscard]] std::span<const std::int64_t> block(int block) const;
  [[nodiscard]] std::int64_t total(int block) const;
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] int num_blocks() const { return num_blocks_; }
  [[nodiscard]] const std::array<int, 3>& sizes() const { return sizes_; }

  /// All counters, [b][x1][x2][x3], to be saved; and to be set again, as many as there are.
  [[nodiscard]] std::span<const std::int64_t> values() const { return counts_; }
  void set_values(std::span<const std::int64_t> values);

  friend bool operator==(const TripleCounts&, const TripleCounts&) = default;

 private:
  int num_blocks_;
  std::array<int, 3> sizes_;
  std::vector<std::int64_t> counts_;
};

/// Every three consecutive rows (a1,o1), (a2,o2), (a3,o3) of a log, in constant memory: block
/// (a2,a3) = a2·A + a3, x1 = (a1,o1) = a1·O + o1, x2 = o2, x3 = o3, so A³O³ counters. Rows without
/// observation break the triples they are in. No allocation per row.
class TripleFolder {
 public:
  /// Throws InvalidArgument when A³O³ is too large.
  TripleFolder(int num_actions, int num_observations);

  /// The next row, if any, belongs to a new run: no triple crosses.
  void start_run();
  /// Rows in order; indices are trusted.
  void add(std::span<const Action> actions, std::span<const Observation> observations);
  void add(Action action, Observation observation);
  /// Forgets all triples and the rows before the next one.
  void clear();
  /// Takes in the triples and numbers of another log.
  void merge(const TripleFolder& other);

  [[nodiscard]] const TripleCounts& counts() const { return counts_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t runs() const { return runs_; }
  [[nodiscard]] std::int64_t missing() const { return missing_; }

  /// What is needed besides counts() to go on: the last two rows as action, observation, action,
  /// observation, as far as they can be part of a triple.
  [[nodiscard]] std::vector<int> pending() const;
  void restore(std::span<const std::int64_t> counts, std::span<const int> pending);
  /// All of it as bytes.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Row {
    Action action;
    Observation observation;
  };

  int num_actions_;
  int num_observations_;
  TripleCounts counts_;
  std::optional<Row> first_;   // of the next triple; only together with second_
  std::optional<Row> second_;  // the last row, if it was seen
  std::int64_t rows_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t missing_ = 0;
};

}  // namespace oas
