#include "oas/jobs/learning_run.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/version.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/planners.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

Plan oracle_plan(const Pomdp& model, double floor, double gap, Parallelism parallelism) {
  PlanOptions options;
  options.iota = floor;
  options.span_tolerance = 0.01 * gap;
  options.gap = gap;
  options.planner = choose_planner(model, options).name;  // no other after it
  options.max_entries = 2e7;
  options.simulation = default_simulation(model);
  const std::uint64_t steps = options.simulation.steps;
  options.max_steps = steps < SimulationOptions().steps ? steps : 10 * steps;
  return make_plan(model, options, parallelism);
}

// The simulated mean, which noise may carry beyond the bound that is proved.
double gain_of(const Plan& plan) { return std::min(plan.certificate.mean, plan.gain_upper); }

double error_of(const Plan& plan) {
  return std::max(plan.gain_upper - gain_of(plan), gain_of(plan) - plan.gain_lower);
}

// The first step after `done` that is one of the equally spaced checkpoints, of which the last is
// the last step.
std::int64_t next_checkpoint(std::int64_t done, const LearningOptions& options) {
  const auto number = done * options.checkpoints / options.steps + 1;
  return (number * options.steps + options.checkpoints - 1) / options.checkpoints;
}

// The closed loop from checkpoint to checkpoint: at(step) is called when that many are done.
template <Agent T, class Watch, class At>
void play_to_checkpoints(const Pomdp& model, T& agent, const LearningOptions& options,
                         const Watch& watch, const At& at) {
  Environment environment(model, Rng({options.seed, options.replication, Role::environment}));
  Rng rng({options.seed, options.replication, Role::agent});
  for (std::int64_t done = 0; done < options.steps;) {
    const std::int64_t next = next_checkpoint(done, options);
    play(environment, agent, rng, static_cast<std::size_t>(next - done), watch);
    at(next);
    done = next;
  }
}

std::vector<double> play_oracle(const Pomdp& model, const RegretOracle& oracle,
                                const LearningOptions& options) {
  PlanPolicy policy(oracle.plan);
  std::vector<double> rewards;
  double reward = 0.0;
  play_to_checkpoints(
      model, policy, options,
      [&](const Choice&, const Environment::Outcome& outcome) {
        check_interrupted();
        reward += outcome.reward;
      },
      [&](std::int64_t /*step*/) { rewards.push_back(reward); });
  return rewards;
}

// Adds up what the steps of a run are worth in the eyes of one plan: Σ_t [Σ_a π_t(a) Q(b_t,a) -
// v(b_t)].
class Judge {
 public:
  explicit Judge(const Plan& plan)
      : look_ahead_(plan), values_(static_cast<std::size_t>(plan.model.num_actions())) {}

  void add(std::span<const double> belief, std::span<const double> policy) {
    look_ahead_.action_values(belief, values_);
    worth_ -= look_ahead_.bias(belief);
    for (std::size_t a = 0; a < values_.size(); ++a) worth_ += policy[a] * values_[a];
  }
  [[nodiscard]] double worth() const { return worth_; }

 private:
  LookAhead look_ahead_;
  std::vector<double> values_;
  double worth_ = 0.0;
};

// The policies with and without floor, which are one where there is no floor.
class Judges {
 public:
  explicit Judges(const RegretOracle& oracle) : free_(oracle.plan) {
    if (oracle.floor > 0.0) floored_.emplace(oracle.floor_plan);
  }

  void add(std::span<const double> belief, std::span<const double> policy) {
    free_.add(belief, policy);
    if (floored_) floored_->add(belief, policy);
  }
  [[nodiscard]] double worth() const { return free_.worth(); }
  [[nodiscard]] double worth_floor() const { return floored_ ? floored_->worth() : free_.worth(); }

 private:
  Judge free_;
  std::optional<Judge> floored_;
};

// An agent whose policy is judged at the true belief before every action.
class JudgedAgent {
 public:
  JudgedAgent(AnyAgent& agent, const Pomdp& model, const RegretOracle& oracle)
      : agent_(agent),
        truth_(model),
        judges_(oracle),
        policy_(static_cast<std::size_t>(model.num_actions())) {}

  void begin(Observation first) {
    agent_.begin(first);
    truth_.begin(first);
  }
  Choice act(Rng& rng) {
    check_interrupted();
    agent_.prepare();
    agent_.probabilities(policy_);
    judges_.add(truth_.belief(), policy_);
    const Choice choice = agent_.act(rng);
    last_ = choice.action;
    return choice;
  }
  void observe(Observation observation) {
    agent_.observe(observation);
    truth_.update(last_, observation);
  }
  [[nodiscard]] const Judges& judges() const { return judges_; }

 private:
  AnyAgent& agent_;
  BeliefFilter truth_;
  Judges judges_;
  std::vector<double> policy_;
  Action last_;
};

void check_same_sizes(const RegretOracle& oracle, const Pomdp& model) {
  const Pomdp& judged = oracle.plan.model;
  OAS_REQUIRE(judged.num_states() == model.num_states() &&
                  judged.num_actions() == model.num_actions() &&
                  judged.num_observations() == model.num_observations(),
              "an oracle of a model of {} for one of {}", judged.brief(), model.brief());
}

void check_oracle_rewards(const LearningRun& run) {
  OAS_REQUIRE(run.oracle_rewards.size() == run.checkpoints.size(),
              "{} checkpoints, {} rewards of the oracle", run.checkpoints.size(),
              run.oracle_rewards.size());
}

Json episode_to_json(const Episode& episode, const Pomdp& model) {
  Json entry = {{"start", episode.start},
                {"length", episode.length},
                {"status", episode.status},
                {"pairs", episode.pairs},
                {"floor", episode.floor},
                {"radius", episode.radius},
                {"planned_gain", episode.planned_gain},
                {"optimistic_gain", episode.optimistic_gain},
                {"planning_seconds", episode.planning_seconds}};
  if (episode.flagged_rows > 0) entry["flagged_rows"] = episode.flagged_rows;
  if (episode.failure) entry["failure"] = episode.failure->message;
  if (episode.transition) {
    entry["error"] = transition_error(model.transition(), *episode.transition).frobenius;
  }
  return entry;
}

}  // namespace

double oracle_gap_for(const Pomdp& model, std::int64_t steps) {
  OAS_REQUIRE(steps >= 1, "steps is {}; it must be at least 1", steps);
  const Matrix rewards = model.expected_reward();
  const double range = std::max(1.0, rewards.maxCoeff() - rewards.minCoeff());
  return range * std::max(1e-6, 1.0 / static_cast<double>(steps));
}

RegretOracle::RegretOracle(const Pomdp& model, const RegretOracleOptions& options,
                           Parallelism parallelism)
    : plan((check_floor(options.floor, model.num_actions()),
            oracle_plan(model, 0.0, options.gap, parallelism))),
      floor_plan(options.floor > 0.0 ? oracle_plan(model, options.floor, options.gap, parallelism)
                                     : plan),
      floor(options.floor) {
  note_gains();
}

RegretOracle::RegretOracle(Plan best, Plan best_with_floor, double with_floor)
    : plan(std::move(best)), floor_plan(std::move(best_with_floor)), floor(with_floor) {
  check_floor(floor, plan.model.num_actions());
  note_gains();
}

void RegretOracle::note_gains() {
  gain = gain_of(plan);
  gain_error = error_of(plan);
  floor_gain = gain_of(floor_plan);
  floor_gain_error = error_of(floor_plan);
}

void LearningOptions::validate() const { check_ranges(*this); }

Regrets regrets(const RegretOracle& oracle, const Checkpoint& at) {
  const double best = static_cast<double>(at.step) * oracle.gain;
  const double best_floor = static_cast<double>(at.step) * oracle.floor_gain;
  return {best - at.reward, best - at.expected_reward, best_floor - at.reward,
          best_floor - at.expected_reward_floor};
}

LearningRun learn(const Pomdp& model, const RegretOracle& oracle, const LearningOptions& options,
                  const RunProgress& progress) {
  options.validate();
  check_same_sizes(oracle, model);
  AnyAgent agent =
      options.make ? options.make(options) : make_agent(options.agent, model, options.settings);
  const bool reveal = agent.needs_hidden_state();
  OAS_REQUIRE(!reveal || options.allow_hidden_state,
              "{} with these settings must be shown the hidden state, which no agent outside a "
              "simulation can be; a study has to allow it",
              options.agent);
  const auto begin = std::chrono::steady_clock::now();
  LearningRun run;
  run.options = options;
  run.oracle_rewards = play_oracle(model, oracle, options);
  JudgedAgent judged(agent, model, oracle);
  double reward = 0.0;
  play_to_checkpoints(
      model, judged, options,
      [&](const Choice&, const Environment::Outcome& outcome) {
        if (reveal) agent.reveal(outcome.state);
        reward += outcome.reward;
      },
      [&](std::int64_t step) {
        run.checkpoints.push_back({.step = step,
                                   .reward = reward,
                                   .expected_reward = judged.judges().worth(),
                                   .expected_reward_floor = judged.judges().worth_floor()});
        if (!progress) return;
        run.episodes.assign(agent.episodes().begin(), agent.episodes().end());
        progress(run);
      });
  run.episodes.assign(agent.episodes().begin(), agent.episodes().end());
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

const Checkpoint& LearningRun::end() const {
  OAS_REQUIRE(!checkpoints.empty(), "the run has no checkpoint");
  return checkpoints.back();
}

std::int64_t LearningRun::num_failures() const {
  return std::count_if(episodes.begin(), episodes.end(),
                       [](const Episode& episode) { return episode.failure.has_value(); });
}

std::string run_csv_header() {
  return "agent,seed,replication,step,reward,realised_regret,expected_regret,"
         "realised_regret_floor,expected_regret_floor,oracle_run_regret\n";
}

std::string run_csv_rows(const LearningRun& run, const RegretOracle& oracle) {
  check_oracle_rewards(run);
  std::string text;
  for (std::size_t i = 0; i < run.checkpoints.size(); ++i) {
    const Checkpoint& at = run.checkpoints[i];
    const Regrets regret = regrets(oracle, at);
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", run.options.agent, run.options.seed,
                        run.options.replication, at.step, at.reward, regret.realised,
                        regret.expected, regret.realised_floor, regret.expected_floor,
                        run.oracle_rewards[i] - at.reward);
  }
  return text;
}

Json run_to_json(const LearningRun& run, const Pomdp& model, const RegretOracle& oracle) {
  check_oracle_rewards(run);
  const Checkpoint& last = run.end();
  const Regrets regret = regrets(oracle, last);
  Json settings = Json::object();
  for (const Setting& setting : run.options.settings) settings[setting.name] = setting.value;
  Json record = {{"format", "oas-run/1"},
                 {"version", version()},
                 {"agent", run.options.agent},
                 {"settings", std::move(settings)},
                 {"steps", run.options.steps},
                 {"seed", run.options.seed},
                 {"replication", run.options.replication},
                 {"reward", last.reward},
                 {"realised_regret", regret.realised},
                 {"expected_regret", regret.expected},
                 {"realised_regret_floor", regret.realised_floor},
                 {"expected_regret_floor", regret.expected_floor},
                 {"oracle_run_regret", run.oracle_rewards.back() - last.reward},
                 {"oracle_gain", oracle.gain},
                 {"oracle_gain_error", oracle.gain_error},
                 {"iota", oracle.floor},
                 {"oracle_gain_floor", oracle.floor_gain},
                 {"oracle_gain_floor_error", oracle.floor_gain_error},
                 {"failures", run.num_failures()},
                 {"seconds", run.seconds}};
  record["episodes"] = Json::array();
  for (const Episode& episode : run.episodes) {
    record["episodes"].push_back(episode_to_json(episode, model));
  }
  return record;
}

}  // namespace oas
