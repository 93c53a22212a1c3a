#pragma once

#include <cstdint>
#include <vector>

#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/any_loop.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/environment.hpp"

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
  /// How the run starts: where rows are reading-first with its first reading.
  [[nodiscard]] RunStart start() { return loop_.start(); }

 private:
  using Loop = AnyLoop<ContinuousEnvironment, const ReadingRows>;

  Loop loop_;
};

}  // namespace oas
