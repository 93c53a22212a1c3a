#include "oas/simulation/closed_loop.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"

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
                       std::uint32_t replication) {
  options.validate(model);
  const auto start = [&]<Agent T>(T agent) {
    player_ = std::make_unique<PlayerOf<T>>(model, std::move(agent), seed, replication);
  };
  const int num_actions = model.num_actions();
  const double floor = options.min_action_probability.value_or(default_floor(num_actions));
  const auto& own = options.own_transition ? *options.own_transition : model.transition();
  if (options.name == "uniform") {
    start(UniformPolicy(num_actions));
  } else if (options.name == "round-robin") {
    start(RoundRobinPolicy(num_actions));
  } else if (options.name == "memoryless") {
    start(MemorylessPolicy(model, own, floor));
  } else {
    with_fixed_size(model.num_states(), [&]<int N>(std::integral_constant<int, N> /*size*/) {
      start(BeliefPolicy<N>(model, own, floor));
    });
  }
}

ClosedLoop::~ClosedLoop() = default;
ClosedLoop::ClosedLoop(ClosedLoop&&) noexcept = default;
ClosedLoop& ClosedLoop::operator=(ClosedLoop&&) noexcept = default;

void ClosedLoop::advance(std::size_t steps, Trajectory& out) { player_->advance(steps, out); }

}  // namespace oas
