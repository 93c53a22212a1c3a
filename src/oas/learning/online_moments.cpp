#include "oas/learning/online_moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "oas/core/checks.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/learning/detail/record_estimate.hpp"
#include "oas/learning/detail/saved_state.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

OnlineMoments::OnlineMoments(const Pomdp& sensors, Pairing pairing)
    : inverses_(sensors),
      timing_(sensors.timing()),
      pairing_(pairing),
      moments_(sensors.num_states(), sensors.num_actions()),
      place_(new_place()) {}

void OnlineMoments::add(const Choice& choice, Observation observation, Place& place) {
  check_observation(observation, inverses_.num_observations());
  const PairRow row{choice.action, observation};
  const bool seen = observation != kMissing;
  if (place.pairing.next(seen)) {
    const bool weighted = weights_by_propensity(timing_, inverses_.num_actions(), true);
    add_pair(place.previous, row, weighted ? 1.0 / choice.propensity : 1.0, inverses_, timing_,
             moments_);
  }
  place.previous = row;
}

void OnlineMoments::start_run() { place_.pairing.start_run(); }

void OnlineMoments::clear() {
  moments_.clear();
  start_run();
}

TransitionEstimate OnlineMoments::estimate(const Pomdp& sensors, Episode& episode) const {
  MomentSeries series;
  series.batches.push_back(moments_);
  TransitionEstimate estimate = estimate_oas(series, inverses_, sensors);
  episode.pairs = moments_.total_pairs();
  detail::record_estimate(estimate, sensors, episode);
  return estimate;
}

Json OnlineMoments::save() const {
  Json state = {{"sums", moments_.sums},
                {"pairs", moments_.pairs},
                {"first_of_pair", place_.pairing.first_of_pair()}};
  if (place_.pairing.previous()) {
    state["previous"] = {place_.previous.action.value(), place_.previous.observation.value()};
  }
  return state;
}

// A pair adds L(:,o) L(:,o')ᵀ over its propensity, so that sums cannot be larger than this.
double OnlineMoments::largest_sum(std::int64_t pairs) const {
  constexpr double kSmallestPropensity = 1e-12;
  double largest = 0.0;
  for (int a = 0; a < inverses_.num_actions(); ++a) {
    largest = std::max(largest, inverses_.transposed(a).cwiseAbs().maxCoeff());
  }
  const double weight = timing_ == Timing::after ? 1.0 / kSmallestPropensity : 1.0;
  return static_cast<double>(pairs) * weight * largest * largest * (1.0 + 1e-9);
}

void OnlineMoments::load(const JsonView& state) {
  constexpr std::array<std::string_view, 4> kKeys = {"sums", "pairs", "first_of_pair", "previous"};
  state.require_keys(kKeys);
  PairMoments loaded(inverses_.num_states(), inverses_.num_actions());
  loaded.pairs =
      detail::saved_counters(state.at("pairs"), moments_.pairs.size(), detail::kMostSavedSteps);
  loaded.sums = detail::saved_numbers(state.at("sums"), moments_.sums.size(),
                                      largest_sum(loaded.total_pairs()));
  std::optional<PairRow> previous;
  if (state.has("previous")) {
    const auto rows = detail::saved_rows(state.at("previous"), inverses_.num_actions(),
                                         inverses_.num_observations());
    if (rows.size() != 1 || rows.front().observation == kMissing) {
      state.at("previous").fail("expected one action and its observation");
    }
    previous = PairRow{rows.front().action, rows.front().observation};
  }
  place_.pairing.restore(previous.has_value(), state.at("first_of_pair").as_bool());
  moments_ = std::move(loaded);
  if (previous) place_.previous = *previous;
}

}  // namespace oas
