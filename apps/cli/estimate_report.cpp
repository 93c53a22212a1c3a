#include "estimate_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "cli.hpp"
#include "oas/estimation/estimators.hpp"

namespace oas::cli {

namespace {

// Matrices of more states than this are left to the file.
constexpr int kLargestPrinted = 8;

// The region that is to be shown; null: single entries are.
const ConfidenceRegion* shown_region(const TransitionEstimate& estimate, const std::string& which) {
  if (estimate.row_region.factor.empty() || which.empty()) return nullptr;
  return which == "row" ? &estimate.row_region : &estimate.joint_region;
}

// What the brackets are, or how much wider than single intervals they would be.
std::string about_regions(const TransitionEstimate& estimate, const std::string& which) {
  if (estimate.row_region.factor.empty()) return {};
  double largest = 0.0;  // of NaN too
  double all = 0.0;
  for (std::size_t row = 0; row < estimate.row_region.factor.size(); ++row) {
    largest = std::fmax(largest, estimate.row_region.factor[row]);
    all = std::fmax(all, estimate.joint_region.factor[row]);
  }
  if (!(largest > 0.0)) return {};  // no row is determined
  const double percent = 100.0 * estimate.confidence;
  if (which.empty()) {
    return fmt::format(
        "{:g} % regions: ± {:.2f} standard errors hold any one row, ± {:.2f} all rows "
        "(--simultaneous row|all)\n",
        percent, largest, all);
  }
  return fmt::format(
      "[ ] holds {} at once with {:g} % (± up to {:.2f} standard errors); L1: radius of the row\n",
      which == "row" ? "a row" : "all rows", percent, which == "row" ? largest : all);
}

std::string error_bars(const TransitionEstimate& estimate) {
  if (estimate.resamples > 0) {
    return fmt::format("\n± is the standard error ({}, {} resamples)\n", estimate.error_bars,
                       estimate.resamples);
  }
  switch (find_estimator(estimate.estimator).errors) {
    case ErrorSource::batches:
      return fmt::format("\n± is the standard error ({} batches)\n", estimate.num_batches);
    case ErrorSource::information:
      return "\n± is the standard error (observed information); intervals are in the file\n";
    case ErrorSource::posterior:
      return fmt::format("\n± is the posterior standard deviation ({} draws)\n",
                         estimate.num_batches);
    case ErrorSource::none:
      break;
  }
  return {};
}

// A line for each action.
std::string reward_table(const Pomdp& model, const TransitionEstimate& estimate) {
  std::vector<std::string> header = {"reward"};
  for (int s = 0; s < model.num_states(); ++s) header.push_back(model.states()[s]);
  Table table(std::move(header));
  std::size_t index = 0;
  for (int a = 0; a < model.num_actions(); ++a) {
    std::vector<std::string> row = {model.actions()[a]};
    for (int s = 0; s < model.num_states(); ++s, ++index) {
      const double error = estimate.reward_standard_error[index];
      row.push_back(std::isfinite(error)
                        ? fmt::format("{:.4g} ± {:.2g}", estimate.reward[index], error)
                        : fmt::format("{:.4g} ± ?", estimate.reward[index]));
    }
    table.add(std::move(row));
  }
  return "\nmean rewards, from the column of the log\n" + table.text();
}

}  // namespace

std::string estimate_text(const Pomdp& model, const TransitionEstimate& estimate,
                          const std::string& simultaneous) {
  std::string text = estimate.brief() + "\n";
  if (estimate.effective_rows) {
    text += fmt::format("weights by age: worth {} rows of equal weight\n",
                        big_number(std::round(*estimate.effective_rows)));
  }
  if (estimate.labelled_rows) {
    text += fmt::format(
        "sensors are uncertain: calibrated from {}\n",
        counted(static_cast<std::int64_t>(std::round(*estimate.labelled_rows)), "labelled row"));
  }
  if (!estimate.structure.empty()) text += fmt::format("structure: {}\n", estimate.structure);
  if (estimate.missing > 0) {
    text += fmt::format("{} without observation\n", counted(estimate.missing, "row"));
  }
  const ConfidenceRegion* region = shown_region(estimate, simultaneous);
  if (model.num_states() <= kLargestPrinted) text += matrices_text(model, estimate, region);
  if (!estimate.reward.empty() && model.num_states() <= kLargestPrinted) {
    text += reward_table(model, estimate);
  }
  if (!estimate.standard_error.empty()) {
    text += region == nullptr ? error_bars(estimate) : "\n";
    if (region == nullptr && has_entries_at_bounds(estimate)) {
      text += fmt::format("≤ and ≥ are {:g} % limits of entries that were found at 0 or 1\n",
                          100.0 * estimate.confidence);
    }
    text += about_regions(estimate, simultaneous);
  }
  if (estimate.fit_p_value && std::isfinite(*estimate.fit_p_value)) {
    text += fmt::format("fit of the sensors: p = {:.2g}\n", *estimate.fit_p_value);
  }
  return text;
}

}  // namespace oas::cli
