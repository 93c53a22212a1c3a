#include "oas/learning/optimistic_planning.hpp"

#include <algorithm>
#include <chrono>

#include "oas/planning/grid/extended_value_iteration.hpp"

namespace oas {

namespace {

// Members of the set that are solved in search of the best: each costs a warm solve.
constexpr int kMembers = 5;

}  // namespace

void plan_optimistically(const TransitionModel& transition, const std::vector<double>& radius,
                         const RviOptions& options, BeliefController& controller,
                         Episode& episode) {
  const auto begin = std::chrono::steady_clock::now();
  episode.floor = options.iota;
  episode.radius = *std::max_element(radius.begin(), radius.end());
  if (episode.radius == 0.0) {
    const RviResult& result = controller.adopt(transition, options);
    episode.planned_gain = episode.optimistic_gain = result.gain();
    episode.status = to_string(result.status);
  } else {
    EviOptions evi;
    evi.rvi = options;
    evi.max_members = kMembers;
    const ConfidenceSet set{controller.sensors().with_transition(transition), radius};
    EviResult result = extended_value_iteration(set, controller.grid(), evi, {1});
    episode.planned_gain = result.member_solution.gain();
    episode.optimistic_gain = result.gain_bound;
    episode.status = to_string(result.status);
    controller.adopt(result.member, std::move(result.member_solution.bias));
  }
  episode.planning_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace oas
