#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/learning/agents.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/plan.hpp"

namespace oas {

/// How well to know what learners are judged by.
struct RegretOracleOptions {
  double floor = 0.0;  ///< ι of the paper's class of policies
  /// Plan until the gains are known to within this, above 0, where the budget allows (some seconds
  /// at 1e-6).
  double gap = 1e-6;
};

/// The gap that judging runs of so many steps needs: an error of about 1 over the whole run, or of
/// the range of rewards where that is more; at least 10⁻⁶ of it.
[[nodiscard]] double oracle_gap_for(const Pomdp& model, std::int64_t steps);

/// What learners are judged by on one model: the best policy with and without floor, each with its
/// gain, the error of that, and the bias v by which advantages are measured. A gain goes with the
/// bias of its own policy only. Solved once per model.
struct RegretOracle {
  RegretOracle(const Pomdp& model, const RegretOracleOptions& options,
               Parallelism parallelism = {});
  /// Of plans that were made before; both are one where the floor is 0.
  RegretOracle(Plan best, Plan best_with_floor, double with_floor);

  Plan plan;                ///< without floor
  Plan floor_plan;          ///< with floor ι; `plan` where ι is 0
  double gain = 0.0;        ///< ρ* without floor
  double gain_error = 0.0;  ///< |true ρ* - gain| is at most this, at the plan's confidence level
  double floor = 0.0;       ///< ι
  double floor_gain = 0.0;  ///< ρ* in the class with floor ι
  double floor_gain_error = 0.0;

 private:
  void note_gains();
};

/// One agent in one model for a number of steps.
struct LearningOptions {
  std::string agent = "oas-ucrl-ml";
  std::vector<Setting> settings;  ///< of the agent
  /// Makes the agent, which need not be one of the table; `agent` is then what it is called. Unset:
  /// make_agent(agent, model, settings).
  std::function<AnyAgent(const LearningOptions&)> make;
  std::int64_t steps = 100'000;  ///< at least 1
  std::uint64_t seed = 1;
  std::uint32_t replication = 0;
  int checkpoints = 100;  ///< equally spaced; at least 1
  /// Allow an agent that must be shown the hidden state; no such agent exists outside simulations.
  bool allow_hidden_state = false;

  template <class Fields>
  void visit(Fields& fields) {
    fields.text("agent", agent, "who learns: one of the table of agents");
    fields("steps", steps, {1, 1'000'000'000'000}, "steps of each run");
    fields("seed", seed, "run r uses replication r of its streams");
    fields("checkpoints", checkpoints, {1}, "rows of the CSV, equally spaced");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Cumulative figures after `step` steps.
struct Checkpoint {
  std::int64_t step = 0;
  double reward = 0.0;
  /// Σ_t [Σ_a π_t(a) Q(b_t,a) - v(b_t)], b_t the belief under the true model: the expectation of
  /// `reward` up to a bounded term, for any v, without its √T noise. v and Q of the best policy.
  double expected_reward = 0.0;
  double expected_reward_floor = 0.0;  ///< the same with v and Q of the best policy with floor
};

/// A finished run.
struct LearningRun {
  LearningOptions options;
  std::vector<Checkpoint> checkpoints;
  /// The reward of `oracle` at the same checkpoints under the same random numbers.
  std::vector<double> oracle_rewards;
  std::vector<Episode> episodes;
  double seconds = 0.0;

  /// Throws InvalidArgument where nothing was run.
  [[nodiscard]] const Checkpoint& end() const;
  [[nodiscard]] std::int64_t num_failures() const;  ///< episodes in which something went wrong
};

/// Regrets of a checkpoint, against the best policy and against the best with floor: with ρ, v, Q
/// of that policy, realised T·ρ - Σ r, and expected Σ_t [ρ + v(b_t) - Σ_a π_t(a) Q(b_t,a)], the sum
/// of advantages lost along the path, which is 0 for the policy itself.
struct Regrets {
  double realised = 0.0;
  double expected = 0.0;
  double realised_floor = 0.0;
  double expected_floor = 0.0;
};
[[nodiscard]] Regrets regrets(const RegretOracle& oracle, const Checkpoint& at);

/// Called at every checkpoint with the run so far; from the thread that runs it.
using RunProgress = std::function<void(const LearningRun&)>;

/// Lets an agent learn in a model. Streams (seed, replication, environment) and (…, agent): agents
/// with one seed meet the same luck. Throws InvalidArgument on bad options, on an oracle of another
/// model, or when the agent needs the hidden state and that is not allowed.
[[nodiscard]] LearningRun learn(const Pomdp& model, const RegretOracle& oracle,
                                const LearningOptions& options, const RunProgress& progress = {});

/// CSV, one row per checkpoint: agent, seed, replication, step, reward, realised_regret,
/// expected_regret, realised_regret_floor, expected_regret_floor, oracle_run_regret. Same seed,
/// same bytes. Throws InvalidArgument unless the oracle played as far as the run.
[[nodiscard]] std::string run_csv_header();
[[nodiscard]] std::string run_csv_rows(const LearningRun& run, const RegretOracle& oracle);

/// The record of a run, "oas-run/1" (docs/reference/formats.md), one object per episode with the
/// error of its estimate. Times are the only part that differs between two runs of one seed.
[[nodiscard]] nlohmann::ordered_json run_to_json(const LearningRun& run, const Pomdp& model,
                                                 const RegretOracle& oracle);

}  // namespace oas
