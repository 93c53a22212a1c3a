#include "oas/live/detail/live_unit.hpp"

#include <limits>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas::detail {

void LiveUnit::save(ByteWriter& out) const {
  out.put_text(name);
  out.put(run);
  for (const std::int64_t number : {runs, step, plan, rows, missing, impossible}) out.put(number);
  for (const bool flag : {ended, acted, has_row}) out.put(flag);
  out.put(choice.action.value());
  out.put(choice.propensity);
  out.put(reward);
  out.put(content);
  out.put(first.value());
  out.put(static_cast<std::uint64_t>(recent.size()));
  for (const Row& row : recent) {
    out.put(row.action.value());
    out.put(row.observation.value());
  }
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
  for (std::int64_t* number :
       {&unit.runs, &unit.step, &unit.plan, &unit.rows, &unit.missing, &unit.impossible}) {
    *number = in.get_integer(-1, kMost);
  }
  for (bool* flag : {&unit.ended, &unit.acted, &unit.has_row}) *flag = in.get<bool>();
  unit.choice.action = Action{in.get<std::int32_t>()};
  unit.choice.propensity = in.get<double>();
  unit.reward = in.get<double>();
  unit.content = in.get<std::uint64_t>();
  unit.first = Observation{in.get<std::int32_t>()};
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    const Action action{in.get<std::int32_t>()};
    unit.recent.push_back({action, Observation{in.get<std::int32_t>()}});
  }
  unit.belief = in.get_all<double>();
  if (!unit.belief.empty()) {
    OAS_REQUIRE(unit.belief.size() == static_cast<std::size_t>(num_states),
                "saved bytes are damaged: a belief of {} states", unit.belief.size());
    check_simplex(unit.belief, "belief");
  }
  unit.watch.belief = in.get_all<double>();
  unit.watch.before = Observation{in.get<std::int32_t>()};
  unit.watch_plan = in.get_integer(-1, kMost);
  return unit;
}

LivePolicy::LivePolicy(const Pomdp& sensors, const BeliefGrid& grid, LivePlan plan, double floor)
    : plan_(std::move(plan)),
      floor_(floor),
      look_ahead_(sensors.with_transition(plan_.transition), grid, plan_.bias),
      filter_(sensors.with_transition(plan_.transition)),
      rewards_(sensors.with_transition(plan_.transition).expected_reward()) {}

void filter_recent(const LiveUnit& unit, BeliefFilter& filter) {
  filter.reset();
  if (unit.recent.size() == LiveUnit::kHistory) {
    filter.reset(Belief::uniform(static_cast<int>(filter.belief().size())));
  } else if (unit.first != kMissing) {
    filter.begin(unit.first);
  }
  for (const LiveUnit::Row& row : unit.recent) filter.update(row.action, row.observation);
}

std::vector<double> LivePolicy::belief_of(const LiveUnit& unit) {
  filter_recent(unit, filter_);
  return {filter_.belief().begin(), filter_.belief().end()};
}

LivePolicy::Moved LivePolicy::moved(std::span<const double> belief, Action action,
                                    Observation observation) {
  filter_.reset(Belief(std::vector<double>(belief.begin(), belief.end())));
  const double probability = filter_.update(action, observation);
  return {{filter_.belief().begin(), filter_.belief().end()}, probability};
}

double LivePolicy::expected_reward(std::span<const double> belief, Action action) const {
  double sum = 0.0;
  for (Eigen::Index s = 0; s < rewards_.cols(); ++s) {
    sum += belief[static_cast<std::size_t>(s)] * rewards_(action.value(), s);
  }
  return sum;
}

}  // namespace oas::detail
