#include "oas/estimation/weighted_likelihood.hpp"

#include <utility>

namespace oas {

LikelihoodRows with_forgetting(LikelihoodRows rows, const Forgetting& forgetting) {
  forgetting.validate();
  if (!forgetting.active()) return rows;
  const auto weighted = [likelihood = rows.likelihood](const Forgetting& weights) {
    return [likelihood, weights](const TransitionModel& transition, const PassOptions& options) {
      PassOptions with = options;
      with.forgetting = weights;
      return likelihood(transition, with);
    };
  };
  rows.effective_rows = forgetting.effective_rows(rows.rows);
  if (forgetting.half_life > 0.0) rows.squared = weighted(forgetting.squared());
  rows.likelihood = weighted(forgetting);
  return rows;
}

}  // namespace oas
