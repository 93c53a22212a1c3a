#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace oas::detail {

/// A belief by what is not 0.
struct SparseBelief {
  std::vector<int> states;  ///< ascending
  std::vector<double> shares;

  [[nodiscard]] bool is_corner() const { return states.size() == 1; }
};

/// A convex combination of points.
struct Mixture {
  std::vector<int> points;  ///< ascending
  std::vector<double> weights;

  [[nodiscard]] bool is_point() const { return points.size() == 1; }
};

/// Beliefs that are numbered in the order in which they came; the first are the corners, point s
/// that of state s.
class PointSet {
 public:
  /// Beliefs whose shares differ by less, relatively, are the same.
  static constexpr double kSame = 1e-11;

  explicit PointSet(int num_states);

  int add(SparseBelief belief);
  [[nodiscard]] std::optional<int> find(const SparseBelief& belief) const;
  /// The points that are no corners and give no mass to a state outside of the belief: those that
  /// it can be a mixture of, beside its corners.
  void collect_within(const SparseBelief& belief, std::vector<int>& out) const;

  [[nodiscard]] int size() const { return static_cast<int>(points_.size()); }
  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] const SparseBelief& operator[](int point) const {
    return points_[static_cast<std::size_t>(point)];
  }

 private:
  [[nodiscard]] static std::uint64_t key_of(const SparseBelief& belief);
  void mark(const SparseBelief& belief, std::uint64_t* words) const;

  int num_states_;
  std::size_t num_words_;
  std::vector<SparseBelief> points_;
  std::vector<std::uint64_t> support_;  // [point][word]: a bit per state
  std::unordered_multimap<std::uint64_t, int> by_key_;
};

}  // namespace oas::detail
