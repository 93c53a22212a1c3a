#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/grid/belief_mdp.hpp"
#include "oas/planning/grid/detail/shift_prices.hpp"
#include "oas/planning/grid/extended_value_iteration.hpp"

namespace oas::detail {

/// Fills the rows of a BeliefMdp with optimistic choices at a bias v, by ShiftPrices: for any
/// number of states. Cost of a row: O S² and a sort.
class PricedRows {
 public:
  /// `rewards`: A×S, what does not go through the next state. All arguments must outlive it.
  PricedRows(const ConfidenceSet& set, const BeliefGrid& grid, const Matrix& rewards);

  void compile_block(std::size_t first, std::size_t points, std::span<const double> bias,
                     BeliefMdp::Block& block) const;

 private:
  struct Work {
    ShiftPrices prices;
    std::vector<double> belief;     // [S]
    std::vector<double> weights;    // [S]
    std::vector<double> predicted;  // [S]
    std::vector<double> next;       // [S]
    std::vector<double> arriving;   // [S]
    std::vector<std::uint32_t> indices;
    std::vector<double> shares;
  };

  // Of Σ_s w(s) T̂(s,·), divided by Σ w: into work.predicted; the radius t; returns Σ w.
  double predict(Action a, std::span<const double> w, Work& work, double& t) const;
  void add_cell(std::span<const double> belief, double mass, Work& work) const;
  static void write(const ShiftPrices::Move& move, double probability, RowWriter& row);
  void row_before(Action a, Work& work, RowWriter& row) const;
  void row_after(Action a, Work& work, RowWriter& row) const;

  const ConfidenceSet& set_;
  const Pomdp& model_;
  const BeliefGrid& grid_;
  const Matrix& rewards_;
  std::size_t n_;
  ShiftPrices prices_;
};

}  // namespace oas::detail
