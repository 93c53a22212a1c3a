#include "oas/live/detail/row_filter.hpp"

#include "oas/model/run_start.hpp"

namespace oas::detail {

void RowFilter::begin(const SeenRow& first) {
  if (!first.likelihoods.empty()) {
    finite_.reset(RunStart().with({first.observation, {}, first.likelihoods}));
  } else if (first.observation != kMissing) {
    finite_.begin(first.observation);
  } else {
    finite_.reset();
  }
}

double RowFilter::update(Action action, Observation observation,
                         std::span<const double> likelihoods) {
  if (likelihoods.empty()) return finite_.update(action, observation);
  vectors_.reset(finite_.belief());
  const double density = vectors_.update(action, likelihoods);
  reset(vectors_.belief());
  return density;
}

}  // namespace oas::detail
