#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// What is believed of T before any row is seen. Within a structure (see there) the distinct rows
/// of the reduced model R are independent, each Dirichlet on the entries that are left to it: what
/// is fixed stays, and equal rows are drawn once, from the transitions of all of them.
class TransitionPrior {
 public:
  /// `concentration` for every entry; none: 1 for each row, in equal parts. An empty structure
  /// leaves everything open. Throws InvalidArgument on one of other sizes.
  TransitionPrior(int num_states, int num_actions, const TransitionStructure& structure,
                  std::optional<double> concentration);

  [[nodiscard]] std::size_t states() const { return states_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] std::size_t entries() const { return fixed_.size(); }
  /// First of the rows equal to `row` (a·S + s).
  [[nodiscard]] std::size_t leader(std::size_t row) const { return rows_[row].leader; }
  /// Probability that the row has to share out; 0: it is known.
  [[nodiscard]] double mass_left(std::size_t row) const { return rows_[row].mass; }
  /// Imaginary transitions of the row.
  [[nodiscard]] double weight(std::size_t row) const;
  [[nodiscard]] bool is_free(std::size_t entry) const { return free_[entry] != 0; }
  /// Of an entry that is not free.
  [[nodiscard]] double fixed_value(std::size_t entry) const { return fixed_[entry]; }
  [[nodiscard]] TransitionModel mean() const;

  /// The transitions that tell R: those of free entries, equal rows added up in the first of them.
  void pool(std::span<const double> counts, std::span<double> pooled) const;
  /// T after these transitions [a][s][s'].
  void draw(std::span<const double> counts, std::span<double> transition, Rng& rng) const;
  /// A free entry of R by itself, after `hits` of the `visits` pooled transitions of its row. That
  /// of rows is for drawing rows, sparse however many states there are, and would be far too sure
  /// that what was not seen is 0: unless the user chose it, an entry by itself has Jeffreys' prior.
  [[nodiscard]] double draw_entry(std::size_t row, double hits, double visits, Rng& rng) const;

 private:
  struct Row {
    std::size_t leader;
    double mass;
    std::vector<std::size_t> open;  // entries that are left, as next states; of the first rows
    double concentration = 0.0;     // of each of them
  };

  std::size_t states_;
  int num_actions_;
  bool chosen_;  // by the user
  std::vector<Row> rows_;
  std::vector<char> free_;     // [entry]
  std::vector<double> fixed_;  // [entry]; 0 where free
};

}  // namespace oas::detail
