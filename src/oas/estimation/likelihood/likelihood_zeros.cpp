#include <algorithm>

#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

/// What a pass leaves out: zeros of T, and scores that nobody wants.
namespace oas {

// Which parts of T are 0, and which scores are wanted: the kernels leave out the others.
void LikelihoodPassRunner::list_quads() {
  forward_quads_.fill(transition_, rows_.num_states_, rows_.stride_);
  backward_quads_.fill(transposed_, rows_.num_states_, rows_.stride_);
  tables_.forward_quads = forward_quads_.lists();
  tables_.backward_quads = backward_quads_.lists();
  if (!options_.known_zeros) return;
  std::vector<double> wanted(transition_.size(), 0.0);
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  for (std::size_t i = 0; i < options_.known_zeros->size(); ++i) {
    if ((*options_.known_zeros)[i] == 0) wanted[i / n * stride_ + i % n] = 1.0;
  }
  score_quads_.fill(wanted, rows_.num_states_, rows_.stride_);
  tables_.score_quads = score_quads_.lists();
}

// Scores of rows that were never left, and of entries that are known to be 0.
void LikelihoodPassRunner::clear_unwanted(LikelihoodPass& pass) const {
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  const std::size_t size = pass.score.size();
  for (std::vector<double>* const scores : {&pass.score, &pass.batch_scores}) {
    for (std::size_t first = 0; first < scores->size(); first += size) {
      for (const std::size_t row : options_.never_left) {
        std::fill_n(scores->begin() + static_cast<std::ptrdiff_t>(first + row * n), n, 0.0);
      }
      for (std::size_t i = 0; options_.known_zeros && i < size; ++i) {
        if ((*options_.known_zeros)[i] != 0) (*scores)[first + i] = 0.0;
      }
    }
  }
}

}  // namespace oas
