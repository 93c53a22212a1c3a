#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oas/belief/likelihood_filter.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/sampling.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {

/// ClosedLoop for real-valued observations: a model with densities and one of the logging policies,
/// advanced in blocks of any size. Streams are (seed, replication, environment) and (seed,
/// replication, agent).
class ContinuousLoop {
 public:
  /// Throws InvalidArgument on an unknown policy, a bad option, a model without transition model or
  /// densities.
  ContinuousLoop(const ContinuousPomdp& model, const PolicyOptions& options, std::uint64_t seed,
                 std::uint32_t replication = 0);

  /// Appends the next steps to `out`, all columns (observations are 0), their readings [row]
  /// [component] to `readings`, and where `likelihoods` is not null p(reading | s, a) [row][state].
  void advance(std::size_t steps, Trajectory& out, std::vector<double>& readings,
               std::vector<double>* likelihoods = nullptr);

 private:
  enum class Policy { uniform, round_robin, belief, memoryless };

  [[nodiscard]] Choice act();
  [[nodiscard]] int greedy() const;

  ContinuousPomdp model_;
  Policy policy_;
  double floor_;
  std::vector<double> rewards_;  // [a][s], expected
  LikelihoodFilter filter_;      // what the policy believes
  AliasTables transitions_;      // row a·S + s
  Rng environment_rng_;
  Rng agent_rng_;
  State state_;
  int next_ = 0;  // of round-robin
  std::vector<double> reading_;
  std::vector<double> likelihood_;
};

}  // namespace oas
