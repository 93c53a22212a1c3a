#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"

/// Samplers of our own: the same stream gives the same values with every standard library.
namespace oas {

/// Index i with probability weights[i] / sum(weights), by inversion; O(n), one draw. Weights are
/// finite and non-negative, not all zero. An index of weight zero is never returned.
int sample_categorical(std::span<const double> weights, Rng& rng);
/// The same with a given draw of the stream, 64 random bits.
int sample_categorical(std::span<const double> weights, std::uint64_t bits);

/// Systematic resampling: out[k] is the index in which (u + k)/n, n = out.size(), falls on the
/// scale of the cumulated weights, with one uniform u for all. Index i comes up n·weights[i]/sum
/// times, rounded down or up, and exactly so in expectation; indices are non-decreasing. Weights as
/// for sample_categorical. O(weights + n), one draw.
void sample_systematic(std::span<const double> weights, std::span<int> out, Rng& rng);

/// Standard normal (Marsaglia's polar method; the second value is thrown away so that a stream's
/// position is all of its state).
double sample_normal(Rng& rng);

/// Gamma with the given shape > 0 and scale 1 (Marsaglia and Tsang 2000; shape < 1 by the power
/// trick). For tiny shapes the result may underflow to 0.
double sample_gamma(double shape, Rng& rng);

/// Fills `out` with a Dirichlet(concentration) draw; all concentrations > 0, sizes equal. Works in
/// logarithms where shapes are small, so the result is always a point of the simplex.
void sample_dirichlet(std::span<const double> concentration, std::span<double> out, Rng& rng);

/// Many categorical distributions, one per row, sampled in O(1) with one draw each (Walker's alias
/// method, Vose's construction). Built from row-major weights of the outcomes 0, …, width-1, or
/// from rows that each list their outcomes.
class AliasTables {
 public:
  AliasTables() = default;
  /// `weights` holds rows of `width` finite non-negative numbers, each row not all zero.
  AliasTables(std::span<const double> weights, int width);
  /// Row r has the outcomes and weights row_starts[r] … row_starts[r + 1] - 1; none is empty.
  AliasTables(std::span<const double> weights, std::span<const int> outcomes,
              std::vector<std::size_t> row_starts);

  /// One draw from the given row. The 128-bit product of the draw and the width holds the column in
  /// its upper half and the position inside the column in its lower half; no branch depends on the
  /// draw, since such a branch could not be predicted.
  [[nodiscard]] int sample(int row, Rng& rng) const { return sample(row, rng.bits()); }
  /// The same with a given draw of the stream, 64 random bits.
  [[nodiscard]] int sample(int row, std::uint64_t bits) const {
    if (width_ == 0) [[unlikely]]
      return sample_listed(row, bits);
    return sample_cells(cells_.data() + static_cast<std::size_t>(row) * width_, width_, bits);
  }

 private:
  __extension__ using Uint128 = unsigned __int128;

  struct Cell {
    std::uint64_t keep = 0;            // probability of outcome[1], in units of 2^-64
    std::int32_t outcome[2] = {0, 0};  // the alias, the column itself
  };

  static int sample_cells(const Cell* cells, std::size_t width, std::uint64_t bits) {
    const Uint128 product = static_cast<Uint128>(bits) * width;
    const Cell& cell = cells[static_cast<std::size_t>(product >> 64)];
    return cell.outcome[static_cast<std::uint64_t>(product) < cell.keep ? 1 : 0];
  }
  [[nodiscard]] int sample_listed(int row, std::uint64_t bits) const;

  static void build_row(std::span<const double> weights, Cell* cells, std::vector<double>& share,
                        std::vector<int>& small, std::vector<int>& large);

  std::size_t width_ = 0;  // cells of each row; 0: see row_starts_
  std::vector<std::size_t> row_starts_;
  std::vector<Cell> cells_;
};

}  // namespace oas
