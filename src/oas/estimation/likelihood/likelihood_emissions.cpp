#include <algorithm>
#include <numeric>

#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

/// Which states emitted the rows.
namespace oas {

// The backward loop, with counts of emissions where they are asked for.
bool LikelihoodPassRunner::step_back(const detail::ChainSteps& steps, int group,
                                     const double* states, double* message,
                                     TaskResult& result) const {
  if (!options_.emissions) {
    return kernels_.backward(tables_, steps, group, states, message, result.sums.data());
  }
  return kernels_.backward_emissions(tables_, steps, group, states, message, result.sums.data(),
                                     result.emissions.data());
}

// In `before` timing the first row of a run is emitted by the state that no step led to.
void LikelihoodPassRunner::add_first_emission(const Block& block, const Workspace& work,
                                              TaskResult& result) const {
  if (!block.starts_run || shift_ == 0) return;
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  const double* const state = work.states.data();
  const double* const message = work.message.data();
  const double total = std::inner_product(state, state + n, message, 0.0);
  double* const sums = result.emissions.data() + rows_.codes_[block.row] * stride_;
  for (std::size_t s = 0; s < n; ++s) sums[s] += state[s] * message[s] / total;
}

// From [code][stride] to [a][s][o], without the missing ones.
void LikelihoodPassRunner::collect_emissions(LikelihoodPass& pass) const {
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  const auto actions = static_cast<std::size_t>(rows_.num_actions_);
  const auto observations = static_cast<std::size_t>(rows_.num_observations_);
  const auto arranged = [&](const double* from, const double* minus, double* to) {
    for (std::size_t a = 0; a < actions; ++a) {
      for (std::size_t s = 0; s < n; ++s) {
        for (std::size_t o = 0; o < observations; ++o, ++to) {
          const std::size_t i = (a * (observations + 1) + o) * stride_ + s;
          *to += minus != nullptr ? from[i] - minus[i] : from[i];
        }
      }
    }
  };
  for (const TaskResult& result : results_) {
    arranged(result.emissions.data(), nullptr, pass.emission_counts.data());
    const std::size_t batches = result.batch_steps.size();
    for (std::size_t b = 0; b < batches; ++b) {
      const double* const totals = result.emission_batches.data();
      const double* const before = b > 0 ? totals + (b - 1) * result.emissions.size() : nullptr;
      // The first row of a run may have come after the last batch was closed.
      const double* const here =
          b + 1 < batches ? totals + b * result.emissions.size() : result.emissions.data();
      const std::size_t offset = pass.batch_emission_counts.size();
      pass.batch_emission_counts.resize(offset + pass.emission_counts.size(), 0.0);
      arranged(here, before, pass.batch_emission_counts.data() + offset);
    }
  }
}

}  // namespace oas
