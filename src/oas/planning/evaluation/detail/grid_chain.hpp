#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/planning/evaluation/detail/markov_chain.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/grid/belief_grid.hpp"
#include "oas/planning/grid/detail/worker_team.hpp"
#include "oas/planning/look_ahead.hpp"

namespace oas::detail {

/// One fixed policy on (belief on the grid, greedy action at the exact belief, true state): a place
/// is (point · A + action) · S + state.
class GridChain {
 public:
  GridChain(const Pomdp& truth, const Plan& plan, const Pomdp& filter, const BeliefGrid& grid,
            Parallelism parallelism);

  /// v ← v + ½ (Pv + r - v) at all places.
  void sweep(WorkerTeam& team);
  /// Pv + r - v of the last sweep, by place.
  [[nodiscard]] const std::vector<double>& increments() const { return increments_; }

  [[nodiscard]] std::size_t num_blocks() const { return moves_.size(); }
  [[nodiscard]] std::size_t work_of_sweep() const { return values_.size() * num_observations_; }
  /// With cells of S vertices, and S² of the kernel.
  [[nodiscard]] double products_of_sweep() const {
    return 2.0 * static_cast<double>(work_of_sweep() * num_states_);
  }
  [[nodiscard]] int resolution() const { return grid_.resolution(); }

  /// The mean of a table by place over where runs start: the true state, the first reading, and the
  /// cell of the filter's belief.
  [[nodiscard]] double at_start(std::span<const double> table) const;
  /// Expected reward of a step.
  [[nodiscard]] double worth_of(std::size_t place) const;
  /// The chain on what the start leads to, `places` by its states; nothing where that is too much
  /// for linear systems.
  [[nodiscard]] std::optional<MarkovChain> reached(std::vector<std::size_t>& places) const;

 private:
  // Where the agent's belief goes: for each (point, action, observation) a few vertices, and the
  // greedy action at the exact next belief: policies jump at the borders of their regions, so the
  // action must not be read off the vertices.
  struct Moves {
    std::vector<int> greedy;
    std::vector<std::uint32_t> offsets = {0};
    std::vector<std::uint32_t> targets;
    std::vector<double> weights;
  };

  // What the agent believes before its first action, and does then.
  struct AgentStart {
    Observation first;  // kMissing: rows are not reading-first
    std::vector<double> belief;
    int greedy = 0;
  };

  void build_block(std::size_t block, LookAhead look_ahead);
  void add_moves(Moves& moves, int action, const double* belief, LookAhead& look_ahead) const;
  void sweep_block(std::size_t block);
  void back_up_action(const Moves& moves, std::size_t point, std::size_t action, double* out) const;
  [[nodiscard]] std::size_t width() const { return num_actions_ * num_states_; }
  template <class Visit>
  void for_each_start(Visit visit) const;
  template <class Visit>
  void for_each_move(std::size_t place, Visit visit) const;
  [[nodiscard]] double chance_of(std::size_t action, std::size_t greedy) const;
  [[nodiscard]] bool may_go(std::size_t action, std::size_t state, std::size_t next,
                            std::size_t observation) const;

  const Pomdp& truth_;
  const BeliefGrid& grid_;
  std::size_t num_states_;
  std::size_t num_actions_;
  std::size_t num_observations_;
  double iota_;
  std::vector<AgentStart> starts_;
  Matrix rewards_;                      // A×S, under the truth
  std::vector<double> kernel_;          // joint kernel of the truth
  std::vector<double> filter_kernel_;   // prefix kernel of the filter
  std::vector<double> filter_predict_;  // [a][s][S]: prefix sums of T_a(s,·), the filter's
  std::vector<Moves> moves_;            // per block
  std::vector<double> values_;          // [point][greedy action][state]
  std::vector<double> next_;
  std::vector<double> increments_;
};

/// Sweeps until the span falls to its tolerance, or linear systems where they fit and sweeps would
/// take long. No more sweeps than `most_work` products pay for, and far fewer where these are not
/// going to be enough: then the status is sweep_limit, and `smallest` and `largest` hold the gain
/// of every closed class all the same, since its stationary mean of the increments is its gain.
[[nodiscard]] ChainEvaluation solve_chain(GridChain& chain, const ChainOptions& options,
                                          Parallelism parallelism, double most_work);

}  // namespace oas::detail
