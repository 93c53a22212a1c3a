#include "oas/simulation/closed_loop.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/simulation/detail/with_policy.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

constexpr std::array<PolicyInfo, 4> kPolicies = {{
    {"uniform", "every action with probability 1/A", false},
    {"belief", "myopic greedy on the filtered belief, floor iota on every action", true},
    {"memoryless", "myopic greedy given the last action and observation only, floor iota", true},
    {"round-robin", "actions in turn", false},
}};

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

const PolicyInfo& find_policy(std::string_view name) {
  const auto* known = std::ranges::find(kPolicies, name, &PolicyInfo::name);
  OAS_REQUIRE(known != kPolicies.end(),
              "unknown policy '{}'; known are uniform, belief, memoryless, round-robin", name);
  return *known;
}

void PolicyOptions::validate(const Pomdp& model) const {
  const PolicyInfo& known = find_policy(name);
  if (min_action_probability) {
    OAS_REQUIRE(known.reacts, "policy '{}' has no minimum action probability to set", name);
    check_floor(*min_action_probability, model.num_actions());
  }
  if (own_transition) {
    OAS_REQUIRE(own_transition->num_states() == model.num_states() &&
                    own_transition->num_actions() == model.num_actions(),
                "the policy's transition model has {} states and {} actions where the model has "
                "{} and {}",
                own_transition->num_states(), own_transition->num_actions(), model.num_states(),
                model.num_actions());
  }
  OAS_REQUIRE(!known.reacts || model.reward().kind() != Reward::Kind::none,
              "policy '{}' is greedy on the reward, and the model has none", name);
}

ClosedLoop::ClosedLoop(const Pomdp& model, const PolicyOptions& options, std::uint64_t seed,
                       std::uint32_t replication)
    : loop_(detail::with_policy(
          model, options,
          [&]<Agent T>(T agent) { return Loop(model, std::move(agent), seed, replication); },
          [&](const TransitionModel& own, double floor, bool memoryless, const auto& start) {
            if (memoryless) return start(MemorylessPolicy(model, own, floor));
            return with_fixed_size(model.num_states(), [&]<int N>(std::integral_constant<int, N>) {
              return start(BeliefPolicy<N>(model, own, floor));
            });
          })) {}

}  // namespace oas
