#include "oas/learning/online_moments.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "oas/estimation/oas.hpp"
#include "oas/learning/detail/record_estimate.hpp"

namespace oas {

using Json = nlohmann::ordered_json;

OnlineMoments::OnlineMoments(const Pomdp& sensors, Pairing pairing)
    : inverses_(sensors),
      timing_(sensors.timing()),
      pairing_(pairing),
      moments_(sensors.num_states(), sensors.num_actions()) {}

void OnlineMoments::add(const Choice& choice, Observation observation) {
  const PairRow row{choice.action, observation};
  if (previous_ && !(pairing_ == Pairing::disjoint && first_of_pair_)) {
    const double weight = timing_ == Timing::after ? 1.0 / choice.propensity : 1.0;
    add_pair(*previous_, row, weight, inverses_, timing_, moments_);
  }
  previous_ = row;
  first_of_pair_ = !first_of_pair_;
}

void OnlineMoments::start_run() {
  previous_.reset();
  first_of_pair_ = true;
}

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
  Json state = {
      {"sums", moments_.sums}, {"pairs", moments_.pairs}, {"first_of_pair", first_of_pair_}};
  if (previous_) {
    state["previous"] = {previous_->action.value(), previous_->observation.value()};
  }
  return state;
}

void OnlineMoments::load(const JsonView& state) {
  const std::array<int, 1> sums = {static_cast<int>(moments_.sums.size())};
  moments_.sums = state.at("sums").as_array(sums);
  const JsonView pairs = state.at("pairs");
  if (pairs.size() != moments_.pairs.size()) pairs.fail("one entry per action is expected");
  for (std::size_t a = 0; a < moments_.pairs.size(); ++a) {
    moments_.pairs[a] = pairs.at(a).as_integer();
  }
  first_of_pair_ = state.at("first_of_pair").as_bool();
  previous_.reset();
  if (state.has("previous")) {
    const JsonView row = state.at("previous");
    previous_ = PairRow{Action{row.at(std::size_t{0}).as_integer()},
                        Observation{row.at(std::size_t{1}).as_integer()}};
  }
}

}  // namespace oas
