#pragma once

#include <cmath>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

/// One pass over a run of a `before` model as a plain loop: every belief kept, every step
/// normalised. What the likelihood kernels are measured against.
namespace oas::reference {

struct PlainPass {
  double log_likelihood = 0.0;
  std::vector<double> counts;  ///< [a][s][s']
};

inline PlainPass plain_pass(const Pomdp& model, const TransitionModel& transition,
                            const Trajectory& rows) {
  const auto n = static_cast<std::size_t>(model.num_states());
  const std::size_t length = rows.size();
  PlainPass result;
  result.counts.assign(transition.values().size(), 0.0);
  std::vector<double> forward(length * n);
  std::vector<double> belief(model.start());
  for (std::size_t t = 0; t < length; ++t) {
    double* const x = forward.data() + t * n;
    double sum = 0.0;
    for (std::size_t s = 0; s < n; ++s) {
      x[s] = belief[s] * model.sensors()(rows.actions[t], State{s}, rows.observations[t]);
      sum += x[s];
    }
    result.log_likelihood += std::log(sum);
    for (std::size_t s = 0; s < n; ++s) x[s] /= sum;
    for (std::size_t next = 0; next < n; ++next) {
      belief[next] = 0.0;
      for (std::size_t s = 0; s < n; ++s) {
        belief[next] += x[s] * transition(rows.actions[t], State{s}, State{next});
      }
    }
  }
  std::vector<double> message(n, 1.0);
  std::vector<double> weighted(n);
  for (std::size_t t = length - 1; t-- > 0;) {
    const Action a = rows.actions[t];
    for (std::size_t s = 0; s < n; ++s) {
      weighted[s] =
          message[s] * model.sensors()(rows.actions[t + 1], State{s}, rows.observations[t + 1]);
    }
    double total = 0.0;
    const double* const x = forward.data() + t * n;
    for (std::size_t s = 0; s < n; ++s) {
      message[s] = 0.0;
      for (std::size_t next = 0; next < n; ++next) {
        message[s] += transition(a, State{s}, State{next}) * weighted[next];
      }
      total += x[s] * message[s];
    }
    double* counts = result.counts.data() + static_cast<std::size_t>(a) * n * n;
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t next = 0; next < n; ++next) {
        counts[s * n + next] +=
            x[s] * transition(a, State{s}, State{next}) * weighted[next] / total;
      }
    }
    for (std::size_t s = 0; s < n; ++s) message[s] /= total;
  }
  return result;
}

}  // namespace oas::reference
