#pragma once

#include <cstdint>
#include <string>

#include "oas/core/settings.hpp"
#include "oas/sensors/cells.hpp"

namespace oas {

/// How to look for split points.
struct CellSearchOptions {
  /// Cells per component; 0: twice the states in one dimension, fewer for vectors.
  int cells = 0;
  /// `random` is the paper's: split points drawn evenly between the outer quantiles of all
  /// densities, `trials` times, the best set is kept. `refined` starts there and at evenly filled
  /// cells and moves single split points as long as that helps. `even` does not look for α: it
  /// takes evenly filled cells, which keep more of what readings tell and suit plans.
  std::string method = "refined";
  int trials = 1000;       ///< of the random search
  std::uint64_t seed = 1;  ///< same seed, same cells

  template <class Fields>
  void visit_cells(Fields& fields) {
    fields("cells", cells, {2, 1024, true},
           "number of cells (of vectors: per component); 0: twice the number of "
           "states in all");
    fields.choice("search", method, {"random", "refined", "even"},
                  "how to place split points: for the largest alpha (refined; random is "
                  "the paper's search), or for evenly filled cells (even), which are best "
                  "for plans");
  }
  template <class Fields>
  void visit(Fields& fields) {
    visit_cells(fields);
    fields("trials", trials, {1}, "number of random sets of split points to try");
    fields("seed", seed, "same seed, same cells");
    fields.when(
        {"trials", "seed"}, [this] { return method != "even"; },
        "evenly filled cells are computed, not searched for");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// The best cells met.
struct CellSearch {
  Cells cells;
  double alpha = 0.0;  ///< min over actions of σ_S of the cell probabilities
  int evaluations = 0;
};

/// Looks for cells of largest α, the smallest σ_S over the actions. O(trials · A S (U + S²)).
/// Sets of split points are compared by exact probabilities; those of three or more dependent
/// components by 4096 points that stand for each distribution, until the best is found. `progress`
/// is told each set. Throws InvalidArgument on wrong options and when U cells cannot tell S states
/// apart.
[[nodiscard]] CellSearch find_cells(const DensitySensors& sensors,
                                    const CellSearchOptions& options = {},
                                    const WorkDone& progress = {});

}  // namespace oas
