#include <algorithm>
#include <charconv>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/soft_features.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "oas/simulation/policies.hpp"
#include "oas/study/detail/task_kinds.hpp"
#include "oas/study/instance.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kContinuousBlock = 1 << 15;

constexpr TaskSetting kContinuousSettings[] = {
    {"states", SettingType::integer, "number of states"},
    {"actions", SettingType::integer, "number of actions"},
    {"timing", SettingType::text, "before or after"},
    {"separation", SettingType::number, "distance of neighbouring means, in standard deviations"},
    {"policy", SettingType::text, "who makes the log: belief (a wrong model's) or uniform"},
    {"methods", SettingType::list, "oas-soft, oas-ml, or ESTIMATOR-SEARCH-CELLS: oas-random-4"},
    {"pairs", SettingType::integer, "length of the log in pairs of steps"},
    {"first_pairs", SettingType::integer, "first checkpoint"},
    {"per_decade", SettingType::integer, "checkpoints for each factor of ten"},
};

constexpr std::string_view kContinuousColumns[] = {"states", "actions", "timing", "separation",
                                                   "policy", "method",  "alpha",  "pairs",
                                                   "steps",  "error",   "flagged"};

// "oas-random-4" or the name of an estimator that takes readings as they are.
struct Method {
  std::string text;
  std::string estimator;
  CellSearchOptions cells;
};

Method read_method(const std::string& text) {
  for (const std::string search : {"random", "refined"}) {
    const std::string word = "-" + search + "-";
    const auto at = text.find(word);
    if (at == std::string::npos) continue;
    Method method{text, text.substr(0, at), {}};
    method.cells.method = search;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + at + word.size(), end, method.cells.cells);
    OAS_REQUIRE(parsed.ec == std::errc() && parsed.ptr == end,
                "method '{}'; expected a number of cells at its end", text);
    static_cast<void>(find_estimator(method.estimator));
    method.cells.validate();
    return method;
  }
  const EstimatorInfo& info = find_estimator(text);
  OAS_REQUIRE(info.readings == Readings::as_they_are,
              "method '{}' needs cells; write {}-random-6 or {}-refined-6", text, text, text);
  return {text, text, {}};
}

struct ContinuousTask {
  int num_states = 3;
  int num_actions = 3;
  Timing timing = Timing::before;
  double separation = 2.0;
  std::string policy;
  std::vector<Method> methods;
  PairCheckpoints pairs;
};

ContinuousTask read_continuous(const Task& task) {
  const TaskSettings& settings = task.settings;
  ContinuousTask read;
  read.num_states = static_cast<int>(settings.integer("states", 3));
  read.num_actions = static_cast<int>(settings.integer("actions", 3));
  OAS_REQUIRE(read.num_states >= 2 && read.num_states <= 20, "states is {}; 2 to 20",
              read.num_states);
  OAS_REQUIRE(read.num_actions >= 1 && read.num_actions <= 20, "actions is {}; 1 to 20",
              read.num_actions);
  read.timing = timing_setting(settings);
  read.separation = settings.number("separation", 2.0);
  OAS_REQUIRE(read.separation > 0.0 && read.separation <= 100.0,
              "separation is {}; it must lie in (0, 100]", read.separation);
  read.policy = settings.text("policy", "belief");
  OAS_REQUIRE(read.policy == "belief" || read.policy == "uniform",
              "policy is '{}'; it must be belief or uniform", read.policy);
  for (const std::string& text : settings.list("methods", {"oas-soft", "oas-ml"})) {
    read.methods.push_back(read_method(text));
  }
  read.pairs = PairCheckpoints::from(settings);
  return read;
}

struct ContinuousInstance {
  ContinuousPomdp model;
  TransitionModel policy_model;  // what the logging policy believes in
};

// Dynamics as in the paper's instances; Gaussian sensors, under each action in another order, means
// `separation` apart but for a tenth of it, standard deviations from 0.8 to 1.2.
ContinuousInstance draw_instance(const ContinuousTask& task, Rng& rng) {
  const int n = task.num_states;
  const double floor = 0.2 / n;
  PomdpParts parts;
  parts.timing = task.timing;
  parts.states = Labels(n, "state");
  parts.actions = Labels(task.num_actions, "action");
  parts.observations = Labels(1, "observation");
  const auto pairs = static_cast<std::size_t>(n * task.num_actions);
  parts.sensors = ObservationModel(n, task.num_actions, 1, std::vector<double>(pairs, 1.0));
  parts.transition = random_transition(n, task.num_actions, floor, rng);
  std::vector<double> rewards(pairs);
  for (double& reward : rewards) reward = rng.uniform();
  parts.reward = Reward::by_action_state(std::move(rewards));
  std::vector<VectorDensity> densities;
  for (int a = 0; a < task.num_actions; ++a) {
    std::vector<int> places(static_cast<std::size_t>(n));
    for (int s = 0; s < n; ++s) {  // a random order, grown one by one
      const auto at = rng.below(static_cast<std::uint32_t>(s + 1));
      places[static_cast<std::size_t>(s)] = places[at];
      places[at] = s;
    }
    for (const int place : places) {
      const double mean = task.separation * (place + 0.2 * (rng.uniform() - 0.5));
      densities.emplace_back(VectorDensity({Density::gaussian(mean, 0.8 + 0.4 * rng.uniform())}));
    }
  }
  DensitySensors sensors(n, task.num_actions, std::move(densities));
  return {ContinuousPomdp(Pomdp(std::move(parts)), std::move(sensors)),
          random_transition(n, task.num_actions, floor, rng)};
}

void check_continuous(const Task& task) { static_cast<void>(read_continuous(task)); }

double continuous_cost(const Task& task) {
  const ContinuousTask read = read_continuous(task);
  return (300.0 + 1000.0 * static_cast<double>(read.methods.size())) *
         static_cast<double>(read.pairs.last);
}

ResultRows run_continuous(const Task& task, std::uint32_t replication, const TaskContext& context) {
  const ContinuousTask read = read_continuous(task);
  Rng rng({task.seed, replication, Role::problem});
  const ContinuousInstance instance = draw_instance(read, rng);
  const ContinuousPomdp& model = instance.model;
  PolicyOptions policy;
  policy.name = read.policy;
  if (policy.name == "belief") policy.own_transition = instance.policy_model;
  std::vector<Evidence> estimators;
  for (const Method& method : read.methods) {
    EvidenceOptions settings;
    settings.actions_ignore_observations = policy.name != "belief";
    settings.cells = method.cells;
    settings.stream = {0, 0, Role::estimation};
    estimators.push_back(make_evidence(method.estimator, model, settings));
  }
  ContinuousLoop loop(model, policy, task.seed, replication);
  ResultRows rows;
  LogBlock block;
  std::int64_t steps = 0;
  for (const std::int64_t pairs : read.pairs.all()) {
    while (steps < 2 * pairs) {
      context.check();
      block.clear();
      const auto count = std::min<std::int64_t>(kContinuousBlock, 2 * pairs - steps);
      loop.advance(static_cast<std::size_t>(count), block.rows, block.readings, &block.likelihoods);
      for (Evidence& estimator : estimators) estimator.add(block.view());
      steps += count;
    }
    for (std::size_t i = 0; i < estimators.size(); ++i) {
      context.check();
      const TransitionEstimate estimate = estimators[i].estimate(EstimateOptions::bare());
      const double error =
          transition_error(model.chain().transition(), estimate.transition).frobenius;
      const double alpha = *std::min_element(estimate.alpha.begin(), estimate.alpha.end());
      rows.push_back({std::int64_t{read.num_states}, std::int64_t{read.num_actions},
                      std::string(to_string(read.timing)), read.separation, read.policy,
                      read.methods[i].text, alpha, pairs, steps, error,
                      static_cast<std::int64_t>(estimate.flagged.size())});
    }
  }
  return rows;
}

}  // namespace

TaskKind continuous_kind() {
  return {"continuous",
          "error of estimators against samples, for real-valued observations",
          {std::begin(kContinuousSettings), std::end(kContinuousSettings)},
          kContinuousColumns,
          "pairs",
          false,
          check_continuous,
          continuous_cost,
          run_continuous};
}

}  // namespace oas::detail
