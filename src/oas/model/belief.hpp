#pragma once

#include <span>
#include <vector>

namespace oas {

/// A point of the simplex over states. Checked at construction. Code that updates beliefs millions
/// of times works on plain spans (belief/filter.hpp); this is the value that is stored and passed
/// on.
class Belief {
 public:
  /// Throws InvalidArgument unless the values are a distribution.
  explicit Belief(std::vector<double> values);
  static Belief uniform(int num_states);

  [[nodiscard]] int num_states() const { return static_cast<int>(values_.size()); }
  /// Throws InvalidArgument on a state that does not exist.
  [[nodiscard]] double operator[](int state) const;
  [[nodiscard]] std::span<const double> values() const { return values_; }

  friend bool operator==(const Belief&, const Belief&) = default;

 private:
  std::vector<double> values_;
};

}  // namespace oas
