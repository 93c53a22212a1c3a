#pragma once

#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/hull/detail/point_set.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"

namespace oas::detail {

/// Where a step leads from beliefs of which little is not 0: P(o | b, a) and b'_o for all o that
/// can come (but for probabilities too small to divide by), by what is not 0. Here the timings
/// differ.
class SuccessorBeliefs {
 public:
  struct Successor {
    int observation = 0;
    double probability = 0.0;
    SparseBelief belief;
  };

  explicit SuccessorBeliefs(const Pomdp& model);

  /// By observation, ascending; valid until the next call. Cost: entries of T and Z met.
  const std::vector<Successor>& from(const SparseBelief& belief, int action);

 private:
  using Rows = SparseModel::Rows;
  // Both fill seen_: by observation the mass of each state with it.
  void after(const SparseBelief& belief, const Rows& transition, const Rows& sensors);
  void before(const SparseBelief& belief, const Rows& transition, const Rows& sensors);
  // What T makes of masses of states, ascending.
  void move(const SparseBelief& masses, const Rows& transition, SparseBelief& out);
  SparseBelief& seen(int observation);

  Timing timing_;
  SparseModel model_;
  std::vector<double> moved_;       // [S], 0 between calls
  std::vector<SparseBelief> seen_;  // [O]
  std::vector<int> observed_;
  std::vector<Successor> successors_;
};

}  // namespace oas::detail
