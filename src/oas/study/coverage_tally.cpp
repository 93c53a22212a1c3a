#include "oas/study/coverage_tally.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/study/statistics.hpp"

namespace oas {

namespace {

void count(HitCount& counter, bool hit) {
  ++counter.trials;
  counter.hits += hit;
}

// Empty when they are sound; sizes are those of the truth.
std::string fault_of(const std::vector<double>& lower, const std::vector<double>& upper,
                     const std::vector<char>& flagged, std::size_t num_states) {
  if (lower.size() != flagged.size() * num_states || upper.size() != lower.size()) {
    return fmt::format("{} lower and {} upper limits for {} entries", lower.size(), upper.size(),
                       flagged.size() * num_states);
  }
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (flagged[i / num_states] != 0) continue;
    if (!(lower[i] >= 0.0 && lower[i] <= upper[i] && upper[i] <= 1.0)) {
      return fmt::format("entry {} has limits {} and {}", i, lower[i], upper[i]);
    }
  }
  return {};
}

std::string fault_of(const TransitionEstimate& estimate, const std::vector<char>& flagged,
                     std::size_t num_states) {
  for (const double value : estimate.transition.values()) {
    if (!std::isfinite(value)) return "an entry of the estimate is not a number";
  }
  if (estimate.lower.empty()) return {};
  std::string fault = fault_of(estimate.lower, estimate.upper, flagged, num_states);
  for (const ConfidenceRegion* region : {&estimate.row_region, &estimate.joint_region}) {
    if (!fault.empty() || region->lower.empty()) continue;
    fault = fault_of(region->lower, region->upper, flagged, num_states);
    if (fault.empty() && region->l1.size() != flagged.size()) fault = "radii are missing";
    for (std::size_t row = 0; row < flagged.size() && fault.empty(); ++row) {
      if (flagged[row] == 0 && !(region->l1[row] >= 0.0)) {
        fault = fmt::format("row {} has the radius {}", row, region->l1[row]);
      }
    }
    if (!fault.empty()) fault = "region: " + fault;
  }
  return fault;
}

bool in_band(const ConfidenceRegion& region, std::span<const double> truth, std::size_t row,
             std::size_t num_states) {
  for (std::size_t i = row * num_states; i < (row + 1) * num_states; ++i) {
    if (truth[i] < region.lower[i] || truth[i] > region.upper[i]) return false;
  }
  return true;
}

bool in_ball(const ConfidenceRegion& region, const TransitionEstimate& estimate,
             std::span<const double> truth, std::size_t row, std::size_t num_states) {
  double distance = 0.0;
  for (std::size_t i = row * num_states; i < (row + 1) * num_states; ++i) {
    distance += std::abs(truth[i] - estimate.transition.values()[i]);
  }
  return distance <= region.l1[row];
}

}  // namespace

void ShareSum::add(double share) {
  ++logs;
  sum += share;
  squares += share * share;
}

CoverageTally::CoverageTally(TransitionModel truth, CoverageReference reference)
    : truth_(std::move(truth)),
      reference_(std::move(reference)),
      num_states_(static_cast<std::size_t>(truth_.num_states())),
      entries_(truth_.values().size()),
      rows_(truth_.values().size() / num_states_) {}

void CoverageTally::add(const TransitionEstimate& estimate, const LogFacts& facts) {
  OAS_REQUIRE(
      estimate.transition.values().size() == entries_.size() && facts.visits.size() == rows_.size(),
      "an estimate of {} entries for a truth of {}", estimate.transition.values().size(),
      entries_.size());
  std::vector<char> flagged(rows_.size(), 0);
  for (const FlaggedRow& row : estimate.flagged) {
    flagged[static_cast<std::size_t>(row.action) * num_states_ +
            static_cast<std::size_t>(row.state)] = 1;
  }
  const std::string fault = fault_of(estimate, flagged, num_states_);
  if (!fault.empty()) return add_failure(fault);
  ++logs_;
  judge_flags(flagged, facts);
  if (estimate.lower.empty()) {
    ++without_bars_;
    return;
  }
  judge_intervals(estimate, flagged, facts);
  judge_regions(estimate, flagged);
}

void CoverageTally::add_failure(const std::string& message) {
  ++logs_;
  ++failures_;
  if (first_failure_.empty()) first_failure_ = message;
}

void CoverageTally::judge_flags(const std::vector<char>& flagged, const LogFacts& facts) {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    Row& counts = rows_[row];
    counts.flagged += flagged[row];
    const RowClass found = reference_.classify(row, facts.visits[row]);
    counts.determined += found == RowClass::determined;
    counts.undetermined += found == RowClass::undetermined;
    counts.wrongly_flagged += found == RowClass::determined && flagged[row] != 0;
    counts.wrongly_unflagged += found == RowClass::undetermined && flagged[row] == 0;
  }
}

void CoverageTally::judge_intervals(const TransitionEstimate& estimate,
                                    const std::vector<char>& flagged, const LogFacts& facts) {
  HitCount all;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::size_t row = i / num_states_;
    if (flagged[row] != 0) continue;
    const double truth = truth_.values()[i];
    const bool hit = truth >= estimate.lower[i] && truth <= estimate.upper[i];
    count(entries_[i].interval, hit);
    count(all, hit);
    entries_[i].widths.push_back(estimate.upper[i] - estimate.lower[i]);
    double ends = 0.0;
    for (std::size_t j = row * num_states_; j < (row + 1) * num_states_; ++j) {
      ends += facts.transitions[j];
    }
    const auto seen = clopper_pearson(facts.transitions[i], ends, estimate.confidence);
    entries_[i].seen_widths.push_back(seen.upper - seen.lower);
  }
  if (all.trials == 0) return;
  entry_share_.add(static_cast<double>(all.hits) / static_cast<double>(all.trials));
}

void CoverageTally::judge_regions(const TransitionEstimate& estimate,
                                  const std::vector<char>& flagged) {
  HitCount bands;
  bool all_bands = true;
  bool all_balls = true;
  const auto truth = truth_.values();
  const bool rows = !estimate.row_region.lower.empty();
  const bool joint = !estimate.joint_region.lower.empty();
  bool any = false;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (flagged[row] != 0) continue;
    any = true;
    if (rows) {
      const bool held = in_band(estimate.row_region, truth, row, num_states_);
      count(rows_[row].band, held);
      count(bands, held);
      count(rows_[row].ball, in_ball(estimate.row_region, estimate, truth, row, num_states_));
    }
    if (!joint) continue;
    all_bands = all_bands && in_band(estimate.joint_region, truth, row, num_states_);
    all_balls = all_balls && in_ball(estimate.joint_region, estimate, truth, row, num_states_);
  }
  if (bands.trials > 0) {
    row_share_.add(static_cast<double>(bands.hits) / static_cast<double>(bands.trials));
  }
  if (!joint || !any) return;
  count(joint_band_, all_bands);
  count(joint_ball_, all_balls);
}

}  // namespace oas
