#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/jobs/data_needed.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/study/detail/task_kinds.hpp"
#include "oas/study/instance.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kAtOnce = 1 << 16;            // steps
constexpr std::size_t kInformationSteps = 400'000;  // for the limit
constexpr std::uint32_t kMostInstances = 10'000;    // drawn until α lies in the band

constexpr TaskSetting kEfficiencySettings[] = {
    {"size", SettingType::text, "states x actions x observations, as in 3x4x5"},
    {"timing", SettingType::text, "before or after"},
    {"min_alpha", SettingType::number, "least alpha of an instance"},
    {"max_alpha", SettingType::number, "greatest"},
    {"peak", SettingType::number, "weight of the likely observation, see oas problem random"},
    {"policy", SettingType::text, "who makes the logs, see oas list"},
    {"iota", SettingType::number_or_text, "floor of the policy; \"1/(10A)\""},
    {"estimators", SettingType::list, "estimators, all on the same logs"},
    {"steps", SettingType::integer, "length of a log"},
    {"logs", SettingType::integer, "logs of one instance"},
};

constexpr std::string_view kEfficiencyColumns[] = {
    "size", "timing", "alpha_band", "alpha", "iota",       "policy",    "estimator",      "steps",
    "logs", "error",  "limit",      "ratio", "mean_error", "predicted", "ratio_predicted"};

struct EfficiencyTask {
  std::string size;
  RandomPomdpOptions instance;
  double max_alpha = 1.0;
  PolicyOptions policy;
  double iota = 0.0;
  bool reacts = false;
  std::vector<std::string> estimators;
  std::size_t steps = 0;
  std::size_t logs = 0;
};

EfficiencyTask read_efficiency(const Task& task) {
  const TaskSettings& settings = task.settings;
  EfficiencyTask read;
  read.size = settings.text("size", "3x3x3");
  const auto [num_states, num_actions, num_observations] = size_setting(settings);
  read.instance.num_states = num_states;
  read.instance.num_actions = num_actions;
  read.instance.num_observations = num_observations;
  read.instance.timing = timing_setting(settings);
  read.instance.min_alpha = settings.number("min_alpha", 0.1);
  read.max_alpha = settings.number("max_alpha", 1.0);
  OAS_REQUIRE(read.instance.min_alpha > 0.0 && read.instance.min_alpha < read.max_alpha,
              "min_alpha is {} and max_alpha {}; 0 < min_alpha < max_alpha is needed",
              read.instance.min_alpha, read.max_alpha);
  read.instance.peak = settings.number("peak", 2.0);
  read.instance.max_draws = static_cast<int>(kMostInstances);
  read.instance.validate();
  read.policy.name = settings.text("policy", "belief");
  read.reacts = find_policy(read.policy.name).reacts;
  read.iota = floor_setting(settings, num_actions);
  if (read.reacts) read.policy.min_action_probability = read.iota;
  read.estimators = settings.list("estimators", {"oas", "oas-overlap", "oas-ml"});
  for (const std::string& name : read.estimators) check_estimator(name);
  const std::int64_t steps = settings.integer("steps", 1'000'000);
  OAS_REQUIRE(steps >= 4096 && steps <= 1'000'000'000, "steps is {}; 4096 to 1e9", steps);
  const std::int64_t logs = settings.integer("logs", 6);
  OAS_REQUIRE(logs >= 1 && logs <= 10'000, "logs is {}; 1 to 10000", logs);
  read.steps = static_cast<std::size_t>(steps);
  read.logs = static_cast<std::size_t>(logs);
  return read;
}

void check_efficiency(const Task& task) { static_cast<void>(read_efficiency(task)); }

double efficiency_cost(const Task& task) {
  const EfficiencyTask read = read_efficiency(task);
  return 500.0 * static_cast<double>(read.steps) * static_cast<double>(read.logs);
}

// The first instance of the replication's streams whose α lies in the band.
RandomPomdp draw_instance(const Task& task, const EfficiencyTask& read, std::uint32_t replication,
                          const TaskContext& context) {
  for (std::uint32_t i = 0; i < kMostInstances; ++i) {
    context.check();
    Rng rng({task.seed, replication * kMostInstances + i, Role::problem});
    RandomPomdp drawn = random_pomdp(read.instance, rng);
    if (drawn.alpha <= read.max_alpha) return drawn;
  }
  throw InvalidArgument(fmt::format("no instance with alpha between {} and {} was found",
                                    read.instance.min_alpha, read.max_alpha));
}

// Frobenius errors of all estimators on one log.
std::vector<double> errors_on_log(const Task& task, const EfficiencyTask& read,
                                  const RandomPomdp& instance, std::uint32_t stream,
                                  const TaskContext& context) {
  EvidenceOptions settings;
  settings.actions_ignore_observations = !read.reacts;
  settings.stream = {task.seed, stream, Role::estimation};
  std::vector<TaskEstimator> estimators;
  for (const std::string& name : read.estimators) {
    estimators.emplace_back(name, instance.model, settings, context.guests);
  }
  ClosedLoop loop(instance.model, read.policy, task.seed, stream);
  Trajectory block;
  for (std::size_t done = 0; done < read.steps; done += block.size()) {
    context.check();
    block.clear();
    loop.advance(std::min(kAtOnce, read.steps - done), block);
    for (TaskEstimator& estimator : estimators) estimator.add(block);
  }
  std::vector<double> errors;
  for (const TaskEstimator& estimator : estimators) {
    context.check();
    const TransitionEstimate estimate = estimator.estimate();
    errors.push_back(transition_error(instance.model.transition(), estimate.transition).frobenius);
  }
  return errors;
}

ResultRows run_efficiency(const Task& task, std::uint32_t replication, const TaskContext& context) {
  const EfficiencyTask read = read_efficiency(task);
  const RandomPomdp instance = draw_instance(task, read, replication, context);
  const auto first = static_cast<std::uint32_t>(replication * (read.logs + 1));
  std::vector<Trajectory> survey(1);
  ClosedLoop(instance.model, read.policy, task.seed, first).advance(kInformationSteps, survey[0]);
  const auto steps = static_cast<double>(read.steps);
  const double limit = cramer_rao_error(instance.model, survey, steps, {1});
  const double predicted = forecast_likelihood(instance.model, survey, {1})->error(steps);
  std::vector<double> squares(read.estimators.size(), 0.0);
  std::vector<double> sums(read.estimators.size(), 0.0);
  for (std::size_t log = 0; log < read.logs; ++log) {
    const std::vector<double> errors =
        errors_on_log(task, read, instance, first + 1 + static_cast<std::uint32_t>(log), context);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      squares[i] += errors[i] * errors[i] / static_cast<double>(read.logs);
      sums[i] += errors[i] / static_cast<double>(read.logs);
    }
  }
  ResultRows rows;
  for (std::size_t i = 0; i < read.estimators.size(); ++i) {
    const double error = std::sqrt(squares[i]);
    rows.push_back({read.size, std::string(to_string(read.instance.timing)),
                    std::sqrt(read.instance.min_alpha * read.max_alpha), instance.alpha, read.iota,
                    read.policy.name, read.estimators[i], static_cast<std::int64_t>(read.steps),
                    static_cast<std::int64_t>(read.logs), error, limit, error / limit, sums[i],
                    predicted, sums[i] / predicted});
  }
  return rows;
}

}  // namespace

TaskKind efficiency_kind() {
  return {
      "efficiency",
      "error of estimators against the Cramér-Rao limit, on random instances of a band of alpha",
      {std::begin(kEfficiencySettings), std::end(kEfficiencySettings)},
      kEfficiencyColumns,
      "steps",
      false,
      check_efficiency,
      efficiency_cost,
      run_efficiency};
}

}  // namespace oas::detail
