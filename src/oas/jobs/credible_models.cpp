#include "oas/jobs/credible_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/planning/uncertain/worst_case.hpp"

namespace oas {

namespace {

CredibleModels within_bounds(const Pomdp& model, const TransitionEstimate& estimate) {
  ConfidenceSet set = ConfidenceSet::uniform(model, 1.0);
  OAS_REQUIRE(set.radius.size() == estimate.joint_region.l1.size(),
              "an estimate with bounds of {} rows, a model with {}",
              estimate.joint_region.l1.size(), set.radius.size());
  for (std::size_t row = 0; row < set.radius.size(); ++row) {
    const double l1 = estimate.joint_region.l1[row];
    if (std::isfinite(l1)) set.radius[row] = std::clamp(0.5 * l1, 0.0, 1.0);
  }
  return {std::move(set),
          fmt::format("all models whose rows are within the simultaneous bounds of the estimate, "
                      "which hold together at {:g} %",
                      100.0 * estimate.confidence)};
}

}  // namespace

CredibleModels models_within(const Pomdp& model, double radius) {
  ConfidenceSet set = ConfidenceSet::uniform(model, radius);
  set.validate();
  return {std::move(set),
          fmt::format("all models whose rows are within {:g} of these (total variation)", radius)};
}

std::optional<CredibleModels> credible_models(const Pomdp& model,
                                              const TransitionEstimate& estimate, double level) {
  OAS_REQUIRE(level > 0.0 && level <= 1.0, "level is {}; it must be above 0 and at most 1", level);
  const std::vector<TransitionModel> draws = drawn_transitions(estimate);
  if (draws.empty()) {
    if (estimate.joint_region.l1.empty()) return std::nullopt;
    return within_bounds(model, estimate);
  }
  ConfidenceSet set = credible_set(model, draws, level);
  std::string text = fmt::format(
      "all models whose rows are near the estimate's, within {:.3g} to {:.3g} (total variation); "
      "it holds {:g} % of {} drawn models",
      *std::min_element(set.radius.begin(), set.radius.end()), set.max_radius(), 100.0 * level,
      draws.size());
  return CredibleModels{std::move(set), std::move(text), true};
}

}  // namespace oas
