#pragma once

#include <span>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/live/detail/live_model.hpp"

namespace oas::detail {

/// The belief of a run whose rows bring observations or likelihoods, in any order.
class RowFilter {
 public:
  /// Throws InvalidArgument when the model has no transition.
  explicit RowFilter(const Pomdp& model) : finite_(model), vectors_(model) {}

  /// To the start of a run, with its first reading, which may be missing.
  void begin(const SeenRow& first);
  void reset(std::span<const double> belief) {
    finite_.reset(Belief({belief.begin(), belief.end()}));
  }
  /// As BeliefFilter::update(); of likelihoods the result is a density up to their factor.
  double update(const SeenRow& row) { return update(row.action, row.observation, row.likelihoods); }
  double update(Action action, Observation observation, std::span<const double> likelihoods);

  [[nodiscard]] std::span<const double> belief() const { return finite_.belief(); }
  [[nodiscard]] std::vector<double> copied() const {
    return {finite_.belief().begin(), finite_.belief().end()};
  }

 private:
  BeliefFilter finite_;
  LikelihoodFilter vectors_;
};

}  // namespace oas::detail
