#include "oas/estimation/extreme_dynamics.hpp"

#include <algorithm>
#include <numeric>

namespace oas {

namespace {

constexpr double kMayStay = 0.9;

// A row as its intervals leave it.
class DoubtfulRow {
 public:
  DoubtfulRow(const TransitionEstimate& estimate, std::size_t first, std::size_t states)
      : values_(estimate.transition.values().subspan(first, states)),
        lower_(std::span(estimate.lower).subspan(first, states)),
        upper_(std::span(estimate.upper).subspan(first, states)),
        own_(first / states % states) {}

  [[nodiscard]] bool may_lead_nowhere() const {
    return upper_[own_] > kMayStay &&
           std::all_of(lower_.begin(), lower_.end(), [](double low) { return !(low > 0.0); });
  }

  // Only what is certainly there, if anything is.
  void keep_certain(std::span<double> out) const {
    double sum = 0.0;
    for (std::size_t s = 0; s < values_.size(); ++s) sum += lower_[s] > 0.0 ? values_[s] : 0.0;
    if (!(sum > 0.0)) return;
    for (std::size_t s = 0; s < values_.size(); ++s) {
      out[s] = lower_[s] > 0.0 ? values_[s] / sum : 0.0;
    }
  }

  void lead_nowhere(std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    out[own_] = 1.0;
  }

 private:
  std::span<const double> values_;
  std::span<const double> lower_;
  std::span<const double> upper_;
  std::size_t own_;
};

}  // namespace

std::vector<TransitionModel> extreme_dynamics(const TransitionEstimate& estimate) {
  const TransitionModel& given = estimate.transition;
  const std::size_t size = given.values().size();
  if (estimate.lower.size() != size || estimate.upper.size() != size) return {};
  const TransitionModel seen = without_unseen(estimate);
  std::vector<double> fewest(given.values().begin(), given.values().end());
  std::vector<double> second(seen.values().begin(), seen.values().end());
  const auto states = static_cast<std::size_t>(given.num_states());
  for (std::size_t first = 0; first < size; first += states) {
    const DoubtfulRow row(estimate, first, states);
    row.keep_certain(std::span(fewest).subspan(first, states));
    if (!row.may_lead_nowhere()) continue;
    row.lead_nowhere(std::span(fewest).subspan(first, states));
    row.lead_nowhere(std::span(second).subspan(first, states));
  }
  return {TransitionModel(given.num_states(), given.num_actions(), std::move(fewest)),
          TransitionModel(given.num_states(), given.num_actions(), std::move(second))};
}

}  // namespace oas
