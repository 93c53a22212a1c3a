#include "oas/live/detail/live_unit.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

void LiveUnit::save(ByteWriter& out) const {
  out.put_text(name);
  out.put(run);
  out.put(draws);
  out.put(end);
  for (const std::int64_t number : {runs, step, plan, rows, missing, impossible}) out.put(number);
  for (const bool flag : {ended, acted, has_row}) out.put(flag);
  out.put(drift);
  out.put(choice.action.value());
  out.put(choice.propensity);
  out.put(reward);
  out.put(content);
  out.put(first.observation.value());
  out.put_all(first.likelihoods);
  window.save(out);
  out.put_all(belief);
  out.put_all(watch.belief);
  out.put(watch.before.value());
  out.put(watch_plan);
}

LiveUnit LiveUnit::loaded(ByteReader& in, int num_states) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  LiveUnit unit;
  unit.name = in.get_text();
  unit.run = in.get<std::uint64_t>();
  unit.draws = in.get<std::uint64_t>();
  unit.end = in.get<std::uint64_t>();
  for (std::int64_t* number :
       {&unit.runs, &unit.step, &unit.plan, &unit.rows, &unit.missing, &unit.impossible}) {
    *number = in.get_integer(-1, kMost);
  }
  for (bool* flag : {&unit.ended, &unit.acted, &unit.has_row}) *flag = in.get<bool>();
  unit.drift = in.get<double>();
  OAS_REQUIRE(unit.drift >= 0.0, "saved bytes are damaged: a drift of {}", unit.drift);
  unit.choice.action = Action{in.get<std::int32_t>()};
  unit.choice.propensity = in.get<double>();
  unit.reward = in.get<double>();
  unit.content = in.get<std::uint64_t>();
  unit.first.observation = Observation{in.get<std::int32_t>()};
  unit.first.likelihoods = in.get_all<double>();
  unit.window = BeliefWindow::loaded(in, num_states);
  unit.belief = loaded_belief(in, num_states);
  unit.watch.belief = loaded_belief(in, num_states);
  unit.watch.before = Observation{in.get<std::int32_t>()};
  unit.watch_plan = in.get_integer(-1, kMost);
  return unit;
}

LivePolicy::LivePolicy(const Pomdp& sensors, const BeliefGrid& grid, LivePlan plan, double floor,
                       double drift)
    : plan_(std::move(plan)),
      floor_(floor),
      drift_(drift),
      estimate_doubt_(kDoubt * plan_.distance(plan_.estimate)),
      look_ahead_(sensors.with_transition(plan_.transition), grid, plan_.bias),
      filter_(sensors.with_transition(plan_.transition)),
      rewards_(sensors.with_transition(plan_.transition).expected_reward()) {}

double LivePolicy::doubt_of(const LiveUnit& unit) const {
  return kDoubt * std::clamp(drift_ - unit.drift, 0.0, 1.0);
}

std::vector<double> LivePolicy::belief_of(const LiveUnit& unit) {
  unit.window.bring(filter_, unit.first, doubt_of(unit));
  return filter_.copied();
}

void LivePolicy::take_over(LiveUnit& unit) {
  unit.window.renew(filter_, unit.first, doubt_of(unit));
  unit.belief = filter_.copied();
  unit.plan = plan_.number;
  unit.drift = drift_;
}

LivePolicy::Moved LivePolicy::moved(std::span<const double> belief, const SeenRow& row) {
  filter_.reset(belief);
  const double probability = filter_.update(row);
  return {filter_.copied(), probability};
}

double LivePolicy::expected_reward(std::span<const double> belief, Action action) const {
  double sum = 0.0;
  for (Eigen::Index s = 0; s < rewards_.cols(); ++s) {
    sum += belief[static_cast<std::size_t>(s)] * rewards_(action.value(), s);
  }
  return sum;
}

}  // namespace oas::detail
