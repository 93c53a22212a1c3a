#include "oas/estimation/likelihood/weighted_likelihood.hpp"

#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

LikelihoodRows with_forgetting(LikelihoodRows rows, const Forgetting& forgetting,
                               const RunLengths& runs) {
  forgetting.validate();
  forgetting.check_age(rows.runs);
  if (!forgetting.active()) return rows;
  OAS_REQUIRE(!forgetting.by_run() || rows.runs <= 1 || !runs.empty(),
              "weights by age within {} runs, whose lengths are not given", rows.runs);
  const auto weighted = [likelihood = rows.likelihood](const Forgetting& weights) {
    return [likelihood, weights](const TransitionModel& transition, const PassOptions& options) {
      PassOptions with = options;
      with.forgetting = weights;
      return likelihood(transition, with);
    };
  };
  rows.effective_rows = forgetting.effective_rows(runs.empty() ? RunLengths{{rows.rows, 1}} : runs);
  if (forgetting.half_life > 0.0) rows.squared = weighted(forgetting.squared());
  rows.likelihood = weighted(forgetting);
  return rows;
}

}  // namespace oas
