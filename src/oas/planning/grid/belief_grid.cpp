#include "oas/planning/grid/belief_grid.hpp"

#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

double BeliefGrid::num_points(int num_states, int resolution) {
  double points = 1.0;
  for (int j = 1; j < num_states; ++j) points *= static_cast<double>(resolution + j) / j;
  return points;
}

BeliefGrid::BeliefGrid(int num_states, int resolution)
    : num_states_(num_states), resolution_(resolution), size_(0) {
  OAS_REQUIRE(num_states >= 1, "a belief grid over {} states", num_states);
  OAS_REQUIRE(resolution >= 1, "the resolution of a belief grid is {}; it must be at least 1",
              resolution);
  const double points = num_points(num_states, resolution);
  OAS_REQUIRE(
      num_states <= kMaxGridStates && points < kMaxPoints,
      "a belief grid of resolution {} over {} states has {:.4g} points, more than the "
      "limit of {:.4g} (and {} states); lower the resolution or use the point-based planner",
      resolution, num_states, points, kMaxPoints, kMaxGridStates);
  const int width = resolution + 2;
  terms_.resize(static_cast<std::size_t>(num_states - 1) * width);
  for (int j = 0; j + 1 < num_states; ++j) {  // Pascal's rule; all below the number of points
    for (int y = 0; y < width; ++y) {
      const std::uint32_t above = j == 0 ? 1U : (y == 0 ? 0U : term(j - 1, y));
      const std::uint32_t left = y == 0 ? 0U : term(j, y - 1);
      terms_[static_cast<std::size_t>(j * width + y)] = y == 0 ? 0U : left + above;
    }
  }
  size_ = num_states == 1 ? 1 : static_cast<std::size_t>(term(num_states - 2, resolution + 1));
}

std::size_t BeliefGrid::rank(std::span<const int> counts) const {
  std::size_t index = 0;
  int prefix = 0;
  for (int j = 0; j + 1 < num_states_; ++j) {
    prefix += counts[j];
    index += term(j, prefix);
  }
  return index;
}

void BeliefGrid::unrank(std::size_t index, std::span<int> counts) const {
  auto rest = static_cast<std::uint32_t>(index);
  int above = resolution_;
  for (int j = num_states_ - 2; j >= 0; --j) {
    const std::uint32_t* row = terms_.data() + static_cast<std::ptrdiff_t>(j) * (resolution_ + 2);
    const int y = static_cast<int>(std::upper_bound(row, row + above + 1, rest) - row) - 1;
    rest -= row[y];
    counts[j + 1] = above - y;
    above = y;
  }
  counts[0] = above;
}

void BeliefGrid::point(std::size_t index, std::span<double> belief) const {
  OAS_ASSERT(index < size_);
  std::array<int, kMaxGridStates> counts;
  unrank(index, std::span(counts).first(static_cast<std::size_t>(num_states_)));
  for (int s = 0; s < num_states_; ++s) belief[s] = static_cast<double>(counts[s]) / resolution_;
}

std::size_t BeliefGrid::corner(int state) const {
  std::array<int, kMaxGridStates> counts{};
  counts[state] = resolution_;
  return rank(std::span(counts).first(static_cast<std::size_t>(num_states_)));
}

int BeliefGrid::interpolate(std::span<const double> belief, std::uint32_t* indices,
                            double* weights) const {
  std::array<double, kMaxGridStates> prefix{};
  double sum = 0.0;
  for (int j = 0; j + 1 < num_states_; ++j) prefix[j] = resolution_ * (sum += belief[j]);
  return interpolate_prefix<0>(prefix.data(), indices, weights);
}

void detail::sort_by_fraction(const double* fraction, int* order, int n) {
  std::iota(order, order + n, 0);
  std::sort(order, order + n, [&](int i, int j) {
    return fraction[i] != fraction[j] ? fraction[i] > fraction[j] : i > j;
  });
}

}  // namespace oas
