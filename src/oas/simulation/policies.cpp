#include "oas/simulation/policies.hpp"

#include <cmath>

namespace oas {

void check_floor(double floor, int num_actions) {
  OAS_REQUIRE(std::isfinite(floor) && floor >= 0.0 && floor * num_actions <= 1.0 + 1e-12,
              "iota, the smallest probability of every action, is {}; it must lie in [0, 1/{}]",
              floor, num_actions);
}

MemorylessPolicy::MemorylessPolicy(const Pomdp& model, const TransitionModel& own, double floor)
    : num_actions_(model.num_actions()),
      num_observations_(model.num_observations()),
      floor_(floor),
      greedy_(static_cast<std::size_t>(num_actions_) *
              static_cast<std::size_t>(num_observations_)) {
  check_floor(floor, num_actions_);
  const FilterKernel<0> kernel(
      model, own, expected_reward(model.reward(), model.timing(), model.sensors(), &own));
  std::vector<double> belief(static_cast<std::size_t>(kernel.stride()));
  std::vector<double> scratch(belief.size());
  std::vector<double> scores(static_cast<std::size_t>(kernel.score_storage()));
  const auto greedy = [&] {
    return static_cast<int>(std::max_element(scores.begin(), scores.begin() + num_actions_) -
                            scores.begin());
  };
  const auto to_uniform = [&] {
    std::fill_n(belief.begin(), model.num_states(), 1.0 / model.num_states());
  };
  for (int a = 0; a < num_actions_; ++a) {
    for (int o = 0; o < num_observations_; ++o) {
      to_uniform();
      kernel.update(belief.data(), a, o, scores.data(), scratch.data());
      greedy_[static_cast<std::size_t>(a * num_observations_ + o)] = greedy();
    }
  }
  if (model.reading_first()) {
    const std::vector<double> any(static_cast<std::size_t>(model.num_states()));
    for (Observation o{0}; o < num_observations_; ++o) {
      RunStart::unknown().with(first_reading(*model.first_observation(), o)).belief(any, belief);
      kernel.score(belief.data(), scores.data());
      first_.push_back(greedy());
    }
  }
  to_uniform();
  kernel.score(belief.data(), scores.data());
  greedy_now_ = greedy();
}

LikelihoodPolicy::LikelihoodPolicy(const Pomdp& chain, const TransitionModel& own, double floor,
                                   bool memoryless)
    : num_actions_(chain.num_actions()),
      floor_(floor),
      memoryless_(memoryless),
      filter_(chain, own),
      uniform_(static_cast<std::size_t>(chain.num_states()), 1.0 / chain.num_states()) {
  check_floor(floor, num_actions_);
  const Matrix expected = chain.expected_reward();
  rewards_.assign(expected.data(), expected.data() + expected.size());
}

int LikelihoodPolicy::greedy() const {
  const auto belief = filter_.belief();
  int best = 0;
  double best_score = 0.0;
  for (int a = 0; a < num_actions_; ++a) {
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

}  // namespace oas
