#include "oas/simulation/continuous_loop.hpp"

#include "oas/core/contracts.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

ContinuousLoop::ContinuousLoop(const ContinuousPomdp& model, const PolicyOptions& options,
                               std::uint64_t seed, std::uint32_t replication)
    : model_(model),
      policy_(Policy::belief),
      floor_(options.min_action_probability.value_or(default_floor(model.num_actions()))),
      filter_(model.chain(),
              options.own_transition ? *options.own_transition : model.chain().transition()),
      transitions_(model.chain().transition().values(), model.num_states()),
      environment_rng_({seed, replication, Role::environment}),
      agent_rng_({seed, replication, Role::agent}),
      state_(sample_categorical(model.chain().start(), environment_rng_)),
      reading_(static_cast<std::size_t>(model.sensors().dimension())),
      likelihood_(static_cast<std::size_t>(model.num_states())) {
  options.validate(model.chain());
  if (options.name == "uniform") policy_ = Policy::uniform;
  if (options.name == "round-robin") policy_ = Policy::round_robin;
  if (options.name == "memoryless") policy_ = Policy::memoryless;
  const Matrix expected = model.chain().expected_reward();
  rewards_.assign(expected.data(), expected.data() + expected.size());
}

// Myopic on the belief; ties go to the lowest action.
int ContinuousLoop::greedy() const {
  const auto belief = filter_.belief();
  int best = 0;
  double best_score = 0.0;
  for (int a = 0; a < model_.num_actions(); ++a) {
    const double* reward = rewards_.data() + static_cast<std::size_t>(a) * belief.size();
    double score = 0.0;
    for (std::size_t s = 0; s < belief.size(); ++s) score += belief[s] * reward[s];
    if (a == 0 || score > best_score) {
      best = a;
      best_score = score;
    }
  }
  return best;
}

Choice ContinuousLoop::act() {
  const int n = model_.num_actions();
  switch (policy_) {
    case Policy::uniform:
      return {Action{agent_rng_.below(static_cast<std::uint32_t>(n))}, 1.0 / n};
    case Policy::round_robin:
      return {Action{std::exchange(next_, (next_ + 1) % n)}, 1.0};
    case Policy::belief:
    case Policy::memoryless:
      break;
  }
  return explore(greedy(), floor_, n, agent_rng_);
}

void ContinuousLoop::advance(std::size_t steps, Trajectory& out, std::vector<double>& readings,
                             std::vector<double>* likelihoods) {
  const DensitySensors& sensors = model_.sensors();
  const int n = model_.num_states();
  const std::vector<double> uniform(static_cast<std::size_t>(n), 1.0 / n);
  for (std::size_t t = 0; t < steps; ++t) {
    const Choice choice = act();
    const State now = state_;
    const Action action = choice.action;
    const auto move = [&] {
      state_ = State{transitions_.sample(action * n + state_, environment_rng_)};
    };
    if (model_.timing() == Timing::after) move();
    sensors(action, state_).sample(reading_, environment_rng_);
    if (model_.timing() == Timing::before) move();
    sensors.likelihood(action, reading_, likelihood_);
    if (policy_ == Policy::memoryless) filter_.reset(uniform);
    filter_.update(action, likelihood_);
    out.actions.push_back(action);
    out.observations.emplace_back(0);
    out.propensities.push_back(choice.propensity);
    out.rewards.push_back(rewards_[static_cast<std::size_t>(action * n + now)]);
    out.states.push_back(now);
    readings.insert(readings.end(), reading_.begin(), reading_.end());
    if (likelihoods != nullptr) {
      likelihoods->insert(likelihoods->end(), likelihood_.begin(), likelihood_.end());
    }
  }
}

}  // namespace oas
