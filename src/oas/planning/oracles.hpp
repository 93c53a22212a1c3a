#pragma once

#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/planner.hpp"

/// What a gain can be compared with: the best that can be done under more or less knowledge.
namespace oas {

/// Best gain with floor ι when the state is seen before each action; an upper bound for the POMDP
/// in both timings. Damped value iteration, O(A S²) a sweep.
struct MdpGain {
  SolveStatus status = SolveStatus::not_run;
  double gain = 0.0;
  double upper = 0.0;  ///< largest increment: proved, from every start
  int iterations = 0;
};
[[nodiscard]] MdpGain fully_observed_gain(const Pomdp& model, double iota = 0.0,
                                          double span_tolerance = 1e-9, int max_sweeps = 100'000);

/// Gain of uniformly random actions from the model's start: exact.
[[nodiscard]] double uniform_gain(const Pomdp& model);

/// The plan that maximises the next reward only (v = 0).
[[nodiscard]] Plan myopic_plan(const Pomdp& model, double iota, int resolution);

struct MemorylessOptions {
  double iota = 0.0;
  /// Up to this many policies are all tried; beyond, coordinate ascent from several starts.
  double max_policies = 300'000;
  int restarts = 4;  ///< random ones, beside constant and myopic starts
  std::uint64_t seed = 1;

  void validate(int num_actions) const;
};

/// The best policy that is a function of the last action and observation, greedy with floor ι.
/// Randomised memoryless policies can be better than this class where ι = 0.
struct MemorylessResult {
  double gain = 0.0;        ///< exact, from the start with a uniform first action
  std::vector<int> greedy;  ///< [a][o]
  bool exhaustive = false;  ///< all policies were tried; else the gain is the best found
  long evaluated = 0;
};
[[nodiscard]] MemorylessResult best_memoryless(const Pomdp& model,
                                               const MemorylessOptions& options = {});

/// The exact gain of one such policy: with f(a,s) the frequency of (action, state), the chain
/// (a,s) → (a',s') has probability Σ_o K_a^o(s,s') π(a' | a,o), A·S states only.
[[nodiscard]] double memoryless_gain(const Pomdp& model, std::span<const int> greedy, double iota);

/// One line of `oas plan --all`.
struct OracleRow {
  std::string name;
  double lower = 0.0;
  double upper = 0.0;
  std::string note;
};

/// Uniform, myopic, best memoryless, best with the floor of `options`, best without, fully observed
/// MDP: from least to most knowledge.
[[nodiscard]] std::vector<OracleRow> all_oracles(const Pomdp& model, const PlanOptions& options,
                                                 Parallelism parallelism = {});

}  // namespace oas
