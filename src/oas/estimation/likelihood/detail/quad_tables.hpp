#pragma once

#include <cstdint>
#include <vector>

#include "oas/estimation/likelihood/detail/likelihood_kernel.hpp"

namespace oas::detail {

/// The quads of square matrices [a][s][stride] that are not 0, for ChainTables. A matrix of which
/// more than half of the quads are not 0 has no list: going through all of them is faster. Copies
/// are not made, since lists point into it.
class QuadTables {
 public:
  QuadTables() = default;
  QuadTables(const QuadTables&) = delete;
  QuadTables& operator=(const QuadTables&) = delete;

  /// Takes the place of what was there. O(size of the matrices).
  void fill(const std::vector<double>& matrices, int num_states, int stride);

  /// [a]; null where no matrix has a list.
  [[nodiscard]] const QuadList* lists() const { return lists_.empty() ? nullptr : lists_.data(); }

 private:
  struct Quads {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> row;
    std::vector<double> values;
  };
  std::vector<Quads> quads_;  // [a]
  std::vector<QuadList> lists_;
};

}  // namespace oas::detail
