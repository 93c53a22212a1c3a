#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oas::detail {

/// Draws of several chains, all of the same length, seen entry by entry. Does not own them.
class PosteriorDraws {
 public:
  /// chains[c] is [draw][entry], as many draws in each. Throws InvalidArgument where they differ.
  PosteriorDraws(std::vector<std::span<const double>> chains, std::size_t entries);

  [[nodiscard]] std::size_t size() const { return chains_.size() * length_; }

  /// At most `count` of the draws, far apart: [draw][entry].
  [[nodiscard]] std::vector<double> some(std::size_t count) const;
  /// All draws of an entry, ascending.
  void sort(std::size_t entry, std::vector<double>& out) const;

  [[nodiscard]] double mean(std::size_t entry) const;
  [[nodiscard]] double variance(std::size_t entry) const;
  /// Split R-hat (Gelman and others 2013): the spread over halves of chains and the spread within.
  /// Near 1 where all of them draw from the same distribution.
  [[nodiscard]] double disagreement(std::size_t entry) const;

 private:
  // Draws first … first + count - 1 of all chains one after the other.
  [[nodiscard]] double mean_of(std::size_t entry, std::size_t first, std::size_t count) const;
  [[nodiscard]] double variance_of(std::size_t entry, std::size_t first, std::size_t count) const;
  [[nodiscard]] const double* draw(std::size_t index) const {
    return chains_[index / length_].data() + index % length_ * entries_;
  }

  std::vector<std::span<const double>> chains_;
  std::size_t entries_;
  std::size_t length_;  // draws of a chain
};

}  // namespace oas::detail
