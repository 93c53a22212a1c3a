#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace oas {

/// The regular grid of resolution m on the simplex over S states: all beliefs k/m with k a
/// composition of m into S parts, C(m+S-1, S-1) of them, with the Freudenthal triangulation
/// (Lovejoy 1991, "Computationally feasible bounds for partially observed Markov decision
/// processes"). In prefix sums y_j = m·(b_0 + … + b_j), j < S-1, grid points are the integer points
/// 0 <= y_0 <= … <= y_{S-2} <= m; the cell of a belief is found by sorting the fractional parts.
/// A grid point's index is its rank Σ_j C(y_j + j, j + 1): a sum over one small table, no search.
class BeliefGrid {
 public:
  /// Largest number of points that is accepted.
  static constexpr double kMaxPoints = 2e7;

  /// Throws InvalidArgument naming the number of points when it is above kMaxPoints, and when
  /// num_states < 1 or resolution < 1.
  BeliefGrid(int num_states, int resolution);

  /// C(resolution+S-1, S-1) without overflow (a double).
  [[nodiscard]] static double num_points(int num_states, int resolution);

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int resolution() const { return resolution_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// The index of the grid point counts/m; counts are a composition of m (not checked). O(S).
  [[nodiscard]] std::size_t rank(std::span<const int> counts) const;

  /// The composition of grid point `index`; O(S log m).
  void unrank(std::size_t index, std::span<int> counts) const;

  /// The belief of grid point `index`; O(S log m).
  void point(std::size_t index, std::span<double> belief) const;

  /// The corner where state `state` is certain.
  [[nodiscard]] std::size_t corner(int state) const;

  /// The cell of a belief: up to S vertices with their barycentric weights (positive, sum 1);
  /// returns how many. A belief within 1e-12 of a grid point gives that point alone. O(S log S).
  int interpolate(std::span<const double> belief, std::uint32_t* indices, double* weights) const;

  /// The same from prefix sums y_0 … y_{S-2} (already times m, non-decreasing, in [0, m]), which it
  /// overwrites. N > 0 is the number of states, known at compile time.
  template <int N = 0>
  int interpolate_prefix(double* prefix, std::uint32_t* indices, double* weights) const;

 private:
  [[nodiscard]] std::uint32_t term(int j, int y) const {
    return terms_[static_cast<std::size_t>(j * (resolution_ + 2) + y)];
  }

  int num_states_;
  int resolution_;
  std::size_t size_;
  std::vector<std::uint32_t> terms_;  // [j][y]: C(y + j, j + 1)
};

/// Largest number of states for which a belief fits on the stack of an inner loop.
inline constexpr int kMaxGridStates = 64;

namespace detail {

/// Sorts positions 0 … n-1 by decreasing fraction, larger position first among equals: adding 1 to
/// prefix sums in this order keeps them non-decreasing.
void sort_by_fraction(const double* fraction, int* order, int n);

}  // namespace detail

template <int N>
inline int BeliefGrid::interpolate_prefix(double* prefix, std::uint32_t* indices,
                                          double* weights) const {
  constexpr double kSnap = 1e-12;
  constexpr int kStorage = N > 0 ? N : kMaxGridStates;
  const int n = (N > 0 ? N : num_states_) - 1;
  std::array<int, kStorage> base;
  std::array<int, kStorage> order;
  std::uint32_t index = 0;
  for (int j = 0; j < n; ++j) {
    // Rounding may have taken the sum beyond m, where there are no points.
    const double y = std::min(prefix[j], static_cast<double>(resolution_)) + kSnap;
    base[j] = std::min(static_cast<int>(y), resolution_);
    const double fraction = y - base[j];
    prefix[j] = fraction < 2.0 * kSnap ? 0.0 : fraction;
    index += term(j, base[j]);
  }
  if constexpr (N == 3) {  // a branch here could not be predicted
    order[0] = prefix[0] > prefix[1] ? 0 : 1;
    order[1] = 1 - order[0];
  } else if constexpr (N > 0 && N <= 8) {
    for (int j = 0; j < n; ++j) {  // insertion, later positions first among equals
      int at = j;
      for (; at > 0 && prefix[order[at - 1]] <= prefix[j]; --at) order[at] = order[at - 1];
      order[at] = j;
    }
  } else {
    detail::sort_by_fraction(prefix, order.data(), n);
  }
  int count = 0;
  double previous = 1.0;
  for (int k = 0; k <= n; ++k) {
    const double fraction = k < n ? prefix[order[k]] : 0.0;
    if (previous > fraction) {
      indices[count] = index;
      weights[count++] = previous - fraction;
    }
    if (!(fraction > 0.0)) break;
    const int j = order[k];
    index += term(j, base[j] + 1) - term(j, base[j]);
    previous = fraction;
  }
  return count;
}

}  // namespace oas
