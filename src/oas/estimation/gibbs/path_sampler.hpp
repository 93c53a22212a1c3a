#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"

namespace oas {

/// Draws the hidden states of all rows from their exact distribution given a transition model:
/// forward filter, backward sample (Scott 2002, with an action per transition). O(S²) per row; the
/// filter is run twice over long runs, so that memory does not grow with their length. Where runs
/// start in unknown states, the law of these is drawn as well, from its posterior given the first
/// states on the paths before; its prior is even over all laws.
class PathSampler {
 public:
  /// `rows` must outlive it and stay as they are.
  explicit PathSampler(const TransitionLikelihood& rows);

  /// Draws one path for every run, and sets counts[a][s][s'] to the transitions on it. That of the
  /// last row of a run in `before` timing, of which nothing is seen, is not drawn. False: the rows
  /// cannot happen.
  [[nodiscard]] bool sample(std::span<const double> transition, Rng& rng, std::span<double> counts);

 private:
  // A run as a chain x_0, x_1, …: the first state has the distribution of the start, and state k
  // brings what row k - shift_ says, if there is one.
  struct Chain {
    RunStart start;
    std::size_t first_row;
    std::size_t rows;
    std::size_t states;
  };

  [[nodiscard]] Chain chain(std::size_t run) const;
  // Filtered belief in state k from that in state k - 1; false: impossible.
  [[nodiscard]] bool filter(const Chain& chain, std::size_t k, const double* before, double* after);
  [[nodiscard]] bool sample_run(const Chain& chain, Rng& rng, std::span<double> counts);
  // [s]: T_action(s, next).
  [[nodiscard]] const double* column(std::size_t action, std::size_t next) const {
    return columns_.data() + (action * states_ + next) * states_;
  }

  const TransitionLikelihood& rows_;
  std::size_t states_;
  std::size_t shift_;                // rows between a state and what is seen of it: 1 in `after`
  std::vector<double> columns_;      // [a][s'][s]: T
  std::vector<double> checkpoints_;  // [block][s]: belief in the state before it
  std::vector<double> block_;        // [state][s]: beliefs of one block
  std::vector<double> weights_;
  std::vector<double> start_law_;     // of unknown starts; empty: there are none
  std::vector<double> first_states_;  // [s]: on the paths of these runs, and one
};

}  // namespace oas
