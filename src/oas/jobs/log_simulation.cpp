#include "oas/jobs/log_simulation.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <type_traits>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/continuous_loop.hpp"

namespace oas {

namespace {

constexpr std::int64_t kPlayedAtOnce = 1 << 16;  // steps
constexpr std::int64_t kRunsAtOnce = 16;

// Some steps of a run; readings only where observations are real-valued.
struct PlayedBlock {
  Trajectory rows;
  std::vector<double> readings;
};

// Appends the next steps of a run.
using Advance = std::function<void(std::size_t steps, PlayedBlock& block)>;
// Starts the run of the given number.
using MakeLoop = std::function<Advance(std::uint32_t run)>;

// Makes reading-first rows of those of timing `after`: every row gets the reading of the row
// before, and the last one waits for the next block.
class ShiftedReadings {
 public:
  explicit ShiftedReadings(const FirstReading& first)
      : observation_(first.observation), reading_(first.reading) {}

  void shift(PlayedBlock& block) {
    std::vector<Observation>& seen = block.rows.observations;
    seen.insert(seen.begin(), observation_);
    observation_ = seen.back();
    seen.pop_back();
    std::vector<double>& readings = block.readings;
    readings.insert(readings.begin(), reading_.begin(), reading_.end());
    const auto end = readings.end() - static_cast<std::ptrdiff_t>(reading_.size());
    reading_.assign(end, readings.end());
    readings.erase(end, readings.end());
  }

 private:
  Observation observation_;
  std::vector<double> reading_;
};

template <class Loop>
Advance advance_of(Loop loop) {
  const auto shared = std::make_shared<Loop>(std::move(loop));
  std::shared_ptr<ShiftedReadings> readings;
  const RunStart start = shared->start();
  if (start.first() != nullptr) readings = std::make_shared<ShiftedReadings>(*start.first());
  return [shared, readings](std::size_t steps, PlayedBlock& block) {
    block.rows.clear();
    block.readings.clear();
    if constexpr (std::is_same_v<Loop, ContinuousLoop>) {
      shared->advance(steps, block.rows, block.readings);
    } else {
      shared->advance(steps, block.rows);
    }
    if (readings) readings->shift(block);
  };
}

MakeLoop player(const AnyModel& any, const PolicyOptions& policy, std::uint64_t seed) {
  return [any, policy, seed](std::uint32_t run) {
    if (const auto* continuous = std::get_if<ContinuousPomdp>(&any)) {
      return advance_of(ContinuousLoop(*continuous, policy, seed, run));
    }
    return advance_of(ClosedLoop(std::get<Pomdp>(any), policy, seed, run));
  };
}

MakeLoop player(const AnyModel& any, const PlanPlayer& planned, std::uint64_t seed) {
  if (const HorizonPolicy* const policy = planned.plan.horizon_policy()) {
    return [model = std::get<Pomdp>(any), agent = HorizonAgent(*policy), seed](std::uint32_t run) {
      return advance_of(ClosedLoop::of(model, agent, seed, run));
    };
  }
  const auto policy =
      std::make_shared<const PlanPolicy>(planned.plan, planned.filter.value_or(planned.plan.model));
  return [model = std::get<Pomdp>(any), policy, seed](std::uint32_t run) {
    return advance_of(ClosedLoop::of(model, *policy, seed, run));
  };
}

// Plays the runs of a log and writes them in their order.
class PlayedLog {
 public:
  PlayedLog(const LogSimulationOptions& options, const ReceiveRows& receive,
            const RowsRead& progress)
      : options_(options),
        receive_(receive),
        progress_(progress),
        blocks_(static_cast<std::size_t>(std::min(kRunsAtOnce, options.runs))) {}

  SimulatedLog play(const MakeLoop& make_loop, Parallelism parallelism) {
    if (options_.steps <= kPlayedAtOnce) {
      for (std::int64_t first = 0; first < options_.runs; first += kRunsAtOnce) {
        play_side_by_side(make_loop, first, parallelism);
      }
    } else {
      for (std::int64_t run = 0; run < options_.runs; ++run) play_in_parts(make_loop, run);
    }
    return totals_;
  }

 private:
  void play_side_by_side(const MakeLoop& make_loop, std::int64_t first, Parallelism parallelism) {
    const std::int64_t count = std::min(kRunsAtOnce, options_.runs - first);
    parallel_for(static_cast<std::size_t>(count), parallelism, [&](std::size_t i) {
      make_loop(number_of(first + static_cast<std::int64_t>(i)))(
          static_cast<std::size_t>(options_.steps), blocks_[i]);
    });
    for (std::int64_t i = 0; i < count; ++i) {
      hand_out(blocks_[static_cast<std::size_t>(i)], first + i);
    }
  }

  void play_in_parts(const MakeLoop& make_loop, std::int64_t run) {
    const Advance advance = make_loop(number_of(run));
    for (std::int64_t done = 0; done < options_.steps;) {
      check_interrupted();
      const std::int64_t count = std::min(kPlayedAtOnce, options_.steps - done);
      advance(static_cast<std::size_t>(count), blocks_[0]);
      hand_out(blocks_[0], run);
      done += count;
    }
  }

  [[nodiscard]] std::uint32_t number_of(std::int64_t run) const {
    return static_cast<std::uint32_t>(options_.first_run + run);
  }

  void hand_out(const PlayedBlock& block, std::int64_t run) {
    receive_(block.rows, block.readings, options_.first_run + run);
    for (const double reward : block.rows.rewards) totals_.reward += reward;
    totals_.steps += static_cast<std::int64_t>(block.rows.size());
    if (progress_) progress_(static_cast<std::int64_t>(block.rows.size()));
  }

  const LogSimulationOptions& options_;
  const ReceiveRows& receive_;
  const RowsRead& progress_;
  std::vector<PlayedBlock> blocks_;
  SimulatedLog totals_;
};

void check_player(const AnyModel& model, const PolicyOptions& policy, std::int64_t /*steps*/) {
  policy.validate(chain_of(model));
}

void check_horizon_player(const Pomdp& model, const PlanPlayer& planned, std::int64_t steps) {
  const HorizonPolicy& policy = *planned.plan.horizon_policy();
  OAS_REQUIRE(!planned.filter,
              "a plan for a horizon keeps no belief, so no model can filter for it");
  planned.plan.validate();  // its floor may have been set since it was read
  policy.check_fits(model);
  OAS_REQUIRE(steps <= policy.num_steps(),
              "the plan is over after {} steps and says nothing about the {} that are asked for; "
              "simulate several --runs of at most {} --steps",
              policy.num_steps(), steps, policy.num_steps());
}

void check_player(const AnyModel& any, const PlanPlayer& planned, std::int64_t steps) {
  const auto* const model = std::get_if<Pomdp>(&any);
  OAS_REQUIRE(model != nullptr,
              "plans are for finite observations; oas discretise makes such a model");
  if (planned.plan.horizon) return check_horizon_player(*model, planned, steps);
  const Pomdp& keeps_belief = planned.filter ? *planned.filter : planned.plan.model;
  OAS_REQUIRE(!model->reading_first() || keeps_belief.first_observation(),
              "rows are reading-first, and the model that keeps the plan's beliefs has no "
              "first_observation: plan for a model whose rows are reading-first");
  OAS_REQUIRE(model->num_actions() == planned.plan.model.num_actions() &&
                  model->num_observations() == planned.plan.model.num_observations(),
              "the plan was made for {}, not for {}", planned.plan.model.brief(), model->brief());
}

}  // namespace

void LogSimulationOptions::validate(const AnyModel& model) const {
  OAS_REQUIRE(chain_of(model).has_transition(),
              "the model has no transition model, so it cannot be simulated");
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  OAS_REQUIRE(continuous == nullptr || continuous->has_sensors(),
              "the model has neither observation nor density, so it cannot be simulated");
  OAS_REQUIRE(runs >= 1, "runs is {}; it must be at least 1", runs);
  OAS_REQUIRE(steps >= 1, "steps is {}; it must be at least 1", steps);
  std::visit([&](const auto& player) { check_player(model, player, steps); }, policy);
}

SimulatedLog simulate_rows(const AnyModel& model, const LogSimulationOptions& options,
                           const ReceiveRows& receive, Parallelism parallelism,
                           const RowsRead& progress) {
  options.validate(model);
  const MakeLoop make_loop = std::visit(
      [&](const auto& policy) { return player(model, policy, options.seed); }, options.policy);
  return PlayedLog(options, receive, progress).play(make_loop, parallelism);
}

SimulatedLog simulate_log(const AnyModel& model, const LogSimulationOptions& options,
                          const std::string& path, Parallelism parallelism,
                          const RowsRead& progress) {
  options.validate(model);  // before there is a file
  LogColumns columns;
  columns.run = options.runs > 1 || options.run_names;
  columns.propensity = true;
  columns.reward = options.reward;
  columns.state = options.state;
  LogWriter log = std::visit([&](const auto& any) { return LogWriter(path, any, columns); }, model);
  const SimulatedLog totals = simulate_rows(
      model, options,
      [&](const Trajectory& rows, std::span<const double> readings, std::int64_t run) {
        log.write(rows, readings, static_cast<long>(run));
      },
      parallelism, progress);
  log.commit();
  return totals;
}

}  // namespace oas
