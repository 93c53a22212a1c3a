#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/planning/grid/belief_grid.hpp"

namespace oas::detail {

/// Bounds what nature can win by moving at most t of a predicted distribution p, for any number of
/// states. With u_o(s) = Z(o|s) p(s) written as a mixture of points, u_o = Σ_j μ_oj b_j, let nature
/// take d(s) = w(s) p(s) from state s and give it to others. Then (1 - max_{s in b_j} w(s)) of each
/// point can stay, and what is left over of it stands at corners: a mixture again, for any d. Its
/// value is at most
///   Σ_j μ_j v_j  +  Σ_s w(s) Σ_{j holding s} μ_j max(0, C_j - v_j)  -  Σ_s d(s) (ρ_s + v_s),
/// C_j the value of b_j by its corners and ρ the reward of a state that was reached; what is given
/// to s' is worth ρ_s' + v_s' at most. That is linear in d, so that the dearest is found by
/// sorting: the L1 ball of value iteration for fully observed models, with what knowledge is lost
/// as an additional price. The other bound is that of all mass at corners; the smaller one counts.
/// Both are the plain value at t = 0 and never fall with t.
class ShiftPrices {
 public:
  explicit ShiftPrices(const BeliefGrid& grid);

  /// v at the points of the grid, kept by the caller.
  void set_bias(std::span<const double> bias);

  /// One distribution at a time: begin, add its mixture (masses sum to 1), move.
  void begin();
  void add(std::uint32_t point, double mass);

  struct Entry {
    std::uint32_t point = 0;
    double mass = 0.0;
  };
  struct Move {
    double value = 0.0;          ///< the bound
    std::vector<Entry> entries;  ///< where nature moves: a mixture of mass 1
    double reward = 0.0;         ///< `value` less what v says of the mixture
  };
  /// `arriving`: ρ, S numbers. Valid until the next call.
  const Move& move(std::span<const double> p, double t, std::span<const double> arriving);

 private:
  [[nodiscard]] double drain(std::span<const double> price, std::size_t target, double t);
  void mix(std::span<const double> p, std::size_t target, double t);

  std::size_t num_states_;
  std::vector<std::uint32_t> corner_;
  std::vector<double> beliefs_;  // [point][S]
  std::span<const double> bias_;
  std::vector<double> slack_;  // [point]: max(0, C_j - v_j)
  std::vector<Entry> held_;
  std::vector<double> lost_;   // [S]: Σ_{j holding s} μ_j slack_j
  std::vector<double> price_;  // [S]: of a unit that is taken from s
  std::vector<double> plain_;  // [S]: of a unit at its corner
  std::vector<std::size_t> order_;
  std::span<const double> p_;
  std::vector<double> taken_;  // [S]: w
  std::vector<double> rest_;   // [S]: mass at corners
  Move move_;
};

}  // namespace oas::detail
