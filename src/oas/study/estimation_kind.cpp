#include <algorithm>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/study/detail/task_kinds.hpp"
#include "oas/study/instance.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kBlockSteps = 1 << 16;

constexpr TaskSetting kEstimationSettings[] = {
    {"policy", SettingType::text, "who makes the log, see oas list"},
    {"policy_model", SettingType::text, "what the policy believes in: wrong or true dynamics"},
    {"iota", SettingType::number_or_text, "floor of the policy; \"1/(10A)\""},
    {"estimators", SettingType::list, "estimators, all on the same log"},
    {"pairs", SettingType::integer, "length of the log in pairs of steps"},
    {"first_pairs", SettingType::integer, "first checkpoint"},
    {"per_decade", SettingType::integer, "checkpoints for each factor of ten"},
};

constexpr std::string_view kEstimationColumns[] = {
    "size",  "states", "actions", "observations", "generator", "alpha_quantile", "candidate",
    "alpha", "sigma",  "epsilon", "iota_rule",    "iota",      "policy",         "estimator",
    "pairs", "steps",  "error",   "largest_l1",   "flagged"};

struct EstimationTask {
  InstanceRule instance;
  PolicyOptions policy;
  bool reacts = false;
  bool wrong_model = true;
  std::vector<std::string> estimators;
  PairCheckpoints pairs;
};

EstimationTask read_estimation(const Task& task) {
  const TaskSettings& settings = task.settings;
  EstimationTask read;
  read.instance = InstanceRule::from(settings, task.seed);
  read.policy.name = settings.text("policy", "belief");
  read.reacts = find_policy(read.policy.name).reacts;
  const double floor = floor_setting(settings, read.instance.num_actions);
  if (read.reacts) read.policy.min_action_probability = floor;
  const std::string believes = settings.text("policy_model", "wrong");
  OAS_REQUIRE(believes == "wrong" || believes == "true",
              "policy_model is '{}'; it must be wrong or true", believes);
  read.wrong_model = believes == "wrong";
  read.estimators = settings.list("estimators", {"oas"});
  for (const std::string& name : read.estimators) check_estimator(name);
  read.pairs = PairCheckpoints::from(settings);
  return read;
}

// The cells that all rows of a task share.
ResultRow common_cells(const Task& task, const EstimationTask& read, const Instance& instance,
                       double iota) {
  const auto iota_value = task.settings.values().find("iota");
  return {task.settings.text("size", "3x3x3"),
          std::int64_t{read.instance.num_states},
          std::int64_t{read.instance.num_actions},
          std::int64_t{read.instance.num_observations},
          task.settings.text("generator", "default"),
          read.instance.alpha_quantile,
          instance.candidate,
          instance.alpha,
          instance.sigma,
          read.instance.epsilon,
          iota_value == task.settings.values().end() ? "1/(10A)" : to_text(iota_value->second),
          iota,
          read.policy.name};
}

void check_estimation(const Task& task) { static_cast<void>(read_estimation(task)); }

double estimation_cost(const Task& task) {
  const EstimationTask read = read_estimation(task);
  const double per_step =
      20.0 + read.instance.num_states * 3.0 + 20.0 * static_cast<double>(read.estimators.size());
  return per_step * 2.0 * static_cast<double>(read.pairs.last);
}

ResultRows run_estimation(const Task& task, std::uint32_t replication, const TaskContext& context) {
  EstimationTask read = read_estimation(task);
  const Instance instance = make_instance(read.instance, replication);
  const Pomdp& model = instance.model;
  if (read.wrong_model) read.policy.own_transition = instance.policy_model;
  EvidenceOptions settings;
  settings.actions_ignore_observations = !read.reacts;
  settings.stream = {task.seed, replication, Role::estimation};
  std::vector<TaskEstimator> estimators;
  for (const std::string& name : read.estimators) {
    estimators.emplace_back(name, model, settings, context.guests);
  }
  ClosedLoop loop(model, read.policy, task.seed, replication);
  const ResultRow common =
      common_cells(task, read, instance, floor_setting(task.settings, model.num_actions()));
  ResultRows rows;
  Trajectory block;
  std::int64_t steps = 0;
  for (const std::int64_t pairs : read.pairs.all()) {
    while (steps < 2 * pairs) {
      context.check();
      block.clear();
      loop.advance(static_cast<std::size_t>(std::min<std::int64_t>(kBlockSteps, 2 * pairs - steps)),
                   block);
      for (TaskEstimator& estimator : estimators) estimator.add(block);
      steps += static_cast<std::int64_t>(block.size());
    }
    for (std::size_t i = 0; i < estimators.size(); ++i) {
      context.check();
      const TransitionEstimate estimate = estimators[i].estimate();
      const TransitionError error = transition_error(model.transition(), estimate.transition);
      ResultRow row = common;
      row.insert(row.end(), {read.estimators[i], pairs, steps, error.frobenius, error.largest_l1,
                             static_cast<std::int64_t>(estimate.flagged.size())});
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

TaskKind estimation_kind() {
  return {"estimation",
          "error of estimators against samples, on a random instance",
          with_instance_settings(kEstimationSettings),
          kEstimationColumns,
          "pairs",
          false,
          check_estimation,
          estimation_cost,
          run_estimation};
}

}  // namespace oas::detail
