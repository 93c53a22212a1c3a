#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/belief_grid.hpp"

namespace oas {

/// A model compiled on a belief grid: a finite MDP whose states are the grid points. For grid point
/// b and action a it holds the expected reward g(b,a) = Σ_s b(s) r(a,s) and one sparse row of
/// probabilities: Σ_o P(o | b, a) times the barycentric weights of b'_o, merged per target. So
///   Q(b,a) = reward + Σ_k probability_k · v(target_k)
/// is the exact Bellman backup of the interpolated v. Rows lie contiguously in blocks of
/// kBlockPoints points; blocks are the unit of parallel work and depend on nothing but the grid.
class BeliefMdp {
 public:
  static constexpr std::size_t kBlockPoints = 64;

  /// Rows of consecutive grid points, action by action: row r of the block is point
  /// first + r / A, action r % A, and owns entries offsets[r] … offsets[r+1]-1.
  struct Block {
    std::vector<double> rewards;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> targets;
    std::vector<double> probabilities;
  };

  explicit BeliefMdp(BeliefGrid grid);

  /// Compiles `model` (with a transition model; sizes must fit the grid). Storage is reused: a
  /// second compilation of a model of the same sizes allocates nothing of the order of the grid.
  /// O(G A O (S² + S log S)). The same bits for any number of threads.
  void compile(const Pomdp& model, Parallelism parallelism = {});

  [[nodiscard]] const BeliefGrid& grid() const { return grid_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] std::size_t num_blocks() const { return blocks_.size(); }
  [[nodiscard]] const Block& block(std::size_t i) const { return blocks_[i]; }
  /// For planners that fill the rows themselves.
  [[nodiscard]] Block& block(std::size_t i) { return blocks_[i]; }
  [[nodiscard]] std::size_t first_point(std::size_t block) const { return block * kBlockPoints; }
  [[nodiscard]] std::size_t num_block_points(std::size_t block) const {
    return std::min(kBlockPoints, grid_.size() - first_point(block));
  }
  /// Stored probabilities, over all rows.
  [[nodiscard]] std::size_t num_entries() const;

  /// Q(point, ·) for bias v; `out` has A entries.
  void action_values(std::size_t point, std::span<const double> bias, std::span<double> out) const;

 private:
  BeliefGrid grid_;
  int num_actions_ = 0;
  std::vector<Block> blocks_;
};

namespace detail {

/// Appends rows to a block, merging equal targets. One per thread: the slot table costs 4 bytes a
/// grid point and is never cleared (a slot counts only if it points into the current row at its own
/// target).
class RowWriter {
 public:
  RowWriter(BeliefMdp::Block& block, std::vector<std::uint32_t>& slots, std::size_t max_row);

  /// Makes room for one more row of up to max_row entries.
  void begin_row(double reward);
  void add(std::uint32_t target, double probability) {
    const std::uint32_t slot = slots_[target];
    if (slot >= begin_ && slot < end_ && targets_[slot] == target) {
      probabilities_[slot] += probability;
      return;
    }
    slots_[target] = end_;
    targets_[end_] = target;
    probabilities_[end_++] = probability;
  }
  void add_reward(double reward) { block_.rewards.back() += reward; }
  void end_row() { block_.offsets.push_back(end_); }
  /// Cuts the block's storage to what was written.
  void finish();

 private:
  BeliefMdp::Block& block_;
  std::uint32_t* slots_;
  std::size_t max_row_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t* targets_ = nullptr;
  double* probabilities_ = nullptr;
};

/// A slot table for grids of `points` points, one per thread, kept between calls.
[[nodiscard]] std::vector<std::uint32_t>& thread_slots(std::size_t points);

/// Prefix sums over s' of K_a^o(s,s') (belief/joint_kernel.hpp) as [a][o][s][S]; the last column is
/// P(o | s, a).
[[nodiscard]] std::vector<double> prefix_kernel(const Pomdp& model);

}  // namespace detail

}  // namespace oas
