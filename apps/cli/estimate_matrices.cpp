#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "cli.hpp"
#include "estimate_report.hpp"

namespace oas::cli {

namespace {

constexpr double kAtBound = 5e-5;  // shown as 0.0000 or 1.0000

std::string entry(const TransitionEstimate& estimate, const ConfidenceRegion* region,
                  std::size_t index, double value) {
  if (estimate.standard_error.empty()) return fmt::format("{:.4f}", value);
  if (region != nullptr) {
    return fmt::format("{:.4f} [{:.4f}, {:.4f}]", value, region->lower[index],
                       region->upper[index]);
  }
  const double error = estimate.standard_error[index];
  if (!std::isfinite(error)) return fmt::format("{:.4f} ± ?", value);
  // At a bound there is one side only, and its limit says more than a standard error.
  const bool fixed = estimate.lower[index] == estimate.upper[index];
  if (value < kAtBound && !fixed) return fmt::format("0.0000 ≤ {:.4f}", estimate.upper[index]);
  if (value > 1.0 - kAtBound && !fixed) {
    return fmt::format("1.0000 ≥ {:.4f}", estimate.lower[index]);
  }
  return fmt::format("{:.4f} ± {:.4f}", value, error);
}

}  // namespace

bool has_entries_at_bounds(const TransitionEstimate& estimate) {
  for (std::size_t i = 0; i < estimate.lower.size(); ++i) {
    const double value = estimate.transition.values()[i];
    const bool known = std::isfinite(estimate.standard_error[i]);
    const bool fixed = estimate.lower[i] == estimate.upper[i];
    if (known && !fixed && (value < kAtBound || value > 1.0 - kAtBound)) return true;
  }
  return false;
}

std::string matrices_text(const Pomdp& model, const TransitionEstimate& estimate,
                          const ConfidenceRegion* region) {
  std::string text;
  std::size_t index = 0;
  for (int a = 0; a < model.num_actions(); ++a) {
    text += fmt::format("\n{} ({}, alpha {:.3g})\n", model.actions()[a],
                        counted(estimate.pairs[a], estimate.log_likelihood ? "transition" : "pair"),
                        estimate.alpha[a]);
    std::vector<std::string> header = {"from \\ to"};
    for (int s = 0; s < model.num_states(); ++s) header.push_back(model.states()[s]);
    if (region != nullptr) header.emplace_back("L1");
    Table table(std::move(header));
    for (int s = 0; s < model.num_states(); ++s) {
      std::vector<std::string> row = {model.states()[s]};
      for (int next = 0; next < model.num_states(); ++next, ++index) {
        row.push_back(
            entry(estimate, region, index, estimate.transition(Action{a}, State{s}, State{next})));
      }
      if (region != nullptr) {
        const double radius = region->l1[index / static_cast<std::size_t>(model.num_states()) - 1];
        row.push_back(radius < 2.0 ? fmt::format("{:.4f}", radius) : "?");
      }
      table.add(std::move(row));
    }
    text += table.text();
  }
  return text;
}

}  // namespace oas::cli
