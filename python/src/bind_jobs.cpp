#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "models.hpp"
#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/json_text.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/jobs/learning_runs.hpp"
#include "oas/jobs/oracle_cache.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/simulation/policies.hpp"
#include "python_agent.hpp"
#include "settings.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

// What `oas.learn` is asked for, beside the model and the agents.
struct Asked {
  std::int64_t steps = 0;
  std::int64_t runs = 0;
  std::uint64_t seed = 1;
  std::optional<double> iota;
  int checkpoints = 100;
  std::optional<double> gap;
  bool no_cache = false;  // plan the oracle anew

  void validate() const {
    OAS_REQUIRE(runs >= 1 && runs <= 1'000'000, "runs is {}; it must be between 1 and 1,000,000",
                runs);
    OAS_REQUIRE(!gap || *gap > 0.0, "oracle_gap is {}; it must be positive", *gap);
  }
};

// One who plays: of the table by name, or an object that `make(run, seed)` returns.
struct Player {
  std::string label;
  std::string name;
  std::vector<Setting> settings;
  nb::object make;
};

bool knows(const std::string& agent, const std::string& setting) {
  const auto list = find_agent(agent).settings();
  return std::ranges::any_of(list, [&](const SettingInfo& one) { return one.name == setting; });
}

Player player_of(const nb::tuple& given, const Asked& asked, const Pomdp& model) {
  Player player{nb::cast<std::string>(given[0]), {}, {}, nb::borrow(given[3])};
  if (!player.make.is_none()) return player;
  player.name = nb::cast<std::string>(given[1]);
  player.settings = settings_of(given[2]);
  for (const Setting& setting : player.settings) {
    OAS_REQUIRE(setting.name != "iota",
                "{}: iota is an argument of learn(), since it is also the floor of the policy that "
                "agents are measured against",
                player.label);
  }
  if (asked.iota && knows(player.name, "iota")) {
    player.settings.push_back({"iota", fmt::format("{}", *asked.iota)});
  }
  try {  // made on trial, before any work
    static_cast<void>(make_agent(player.name, model, player.settings));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", player.label, error.what()));
  }
  return player;
}

// A seed that is the same for the same run, for whatever the object draws from.
std::uint64_t seed_of(const LearningOptions& task) {
  return Rng({task.seed, task.replication, Role::agent}).bits() >> 32;
}

LearningOptions task_of(const Player& player, const Asked& asked, std::int64_t run,
                        const Pomdp& model, AgentFailure& failure) {
  LearningOptions task;
  task.agent = player.label;
  task.settings = player.settings;
  task.steps = asked.steps;
  task.seed = asked.seed;
  task.replication = static_cast<std::uint32_t>(run);
  task.checkpoints = asked.checkpoints;
  task.validate();
  if (player.make.is_none()) {
    task.make = [&](const LearningOptions& of) {
      return make_agent(player.name, model, of.settings);
    };
  } else {
    task.make = [&](const LearningOptions& of) {
      return AnyAgent(PythonAgent({of.agent, of.replication, &model, &failure}, [&] {
        return nb::object(player.make(of.replication, seed_of(of)));
      }));
    };
  }
  return task;
}

// All runs of all players: those of the table on all threads, then those in Python one by one, so
// that objects which share something do so in one order.
class Contest {
 public:
  Contest(const Pomdp& model, const Asked& asked, const nb::list& given)
      : model_(model), asked_(asked) {
    asked.validate();
    OAS_REQUIRE(model.has_transition(), "model has no transition to learn in");
    OAS_REQUIRE(model.reward().kind() != Reward::Kind::none,
                "model has no reward, by which agents are judged");
    for (nb::handle one : given) {
      players_.push_back(player_of(nb::cast<nb::tuple>(one), asked, model));
    }
    floor_ = asked.iota.value_or(default_floor(model.num_actions()));
    check_floor(floor_, model.num_actions());
    for (std::int64_t run = 0; run < asked.runs; ++run) {
      for (const Player& player : players_) {
        auto& tasks = player.make.is_none() ? named_ : python_;
        tasks.push_back(task_of(player, asked, run, model_, failure_));
      }
    }
  }

  void play() {
    const auto total = asked_.steps * static_cast<std::int64_t>(named_.size() + python_.size());
    try {
      run_work({"steps", total}, [&](const RowsRead& progress) { play_all(progress); });
    } catch (const Interrupted&) {
      if (!failure_.happened()) throw;
    }
  }

  [[nodiscard]] nb::dict result() const {
    nb::dict all;
    all["failure"] = failure_.happened() ? failure_.told() : nb::none();
    if (failure_.happened()) return all;
    all["oracle_gain"] = oracle_->gain;
    all["oracle_gain_error"] = oracle_->gain_error;
    all["iota"] = oracle_->floor;
    all["oracle_gain_floor"] = oracle_->floor_gain;
    all["oracle_gain_floor_error"] = oracle_->floor_gain_error;
    nb::list runs;
    nb::list broken;
    for (const LearningRuns& part : {std::cref(named_runs_), std::cref(python_runs_)}) {
      for (const LearningRun& run : part.finished) runs.append(record(run));
      for (const BrokenRun& run : part.broken) {
        broken.append(nb::make_tuple(run.options.agent, run.options.replication, run.reason));
      }
    }
    all["runs"] = runs;
    all["broken"] = broken;
    return all;
  }

 private:
  void play_all(const RowsRead& progress) {
    const double gap = asked_.gap.value_or(oracle_gap_for(model_, asked_.steps));
    const OracleCache cache = asked_.no_cache ? OracleCache() : OracleCache::of_user();
    oracle_.emplace(cache.get(model_, {.floor = floor_, .gap = gap}, threads()));
    const auto tell = [&](const LearningRun&, std::int64_t steps) { progress(steps); };
    named_runs_ = learn_all(model_, *oracle_, named_, tell, threads());
    python_runs_ = learn_all(model_, *oracle_, python_, tell, {1});
  }

  [[nodiscard]] nb::dict record(const LearningRun& run) const {
    std::vector<double> values;
    std::vector<std::int64_t> steps;
    for (std::size_t i = 0; i < run.checkpoints.size(); ++i) {
      const Checkpoint& at = run.checkpoints[i];
      const Regrets regret = regrets(*oracle_, at);
      steps.push_back(at.step);
      for (const double value : {at.reward, regret.realised, regret.expected, regret.realised_floor,
                                 regret.expected_floor, run.oracle_rewards[i] - at.reward}) {
        values.push_back(value);
      }
    }
    nb::dict entry;
    entry["agent"] = run.options.agent;
    entry["run"] = run.options.replication;
    entry["steps"] = owned(std::move(steps));
    entry["values"] = owned(std::move(values), {run.checkpoints.size(), 6});
    entry["csv"] = run_csv_rows(run, *oracle_);
    entry["json"] = dump_json(run_to_json(run, model_, *oracle_));
    return entry;
  }

  const Pomdp& model_;
  Asked asked_;
  double floor_ = 0.0;
  std::vector<Player> players_;
  AgentFailure failure_;
  std::vector<LearningOptions> named_;
  std::vector<LearningOptions> python_;
  std::optional<RegretOracle> oracle_;
  LearningRuns named_runs_;
  LearningRuns python_runs_;
};

nb::object action_values(const Plan& plan, nb::handle given) {
  const auto s = static_cast<std::size_t>(plan.model.num_states());
  const auto a = static_cast<std::size_t>(plan.model.num_actions());
  const Table beliefs = table_of(given, "beliefs");
  OAS_REQUIRE(beliefs.shape.size() == 2 && beliefs.shape[1] == s,
              "beliefs has shape {}; it must be [n][S] with {} states", shown(beliefs.shape), s);
  check_row_stochastic(beliefs.values, plan.model.num_states(), "beliefs");
  std::vector<double> values(beliefs.shape[0] * a);
  LookAhead look_ahead(plan);
  for (std::size_t i = 0; i < beliefs.shape[0]; ++i) {
    look_ahead.action_values(std::span(beliefs.values).subspan(i * s, s),
                             std::span(values).subspan(i * a, a));
  }
  return owned(std::move(values), {beliefs.shape[0], a});
}

}  // namespace

void bind_jobs(nb::module_& m) {
  m.def(
      "_learn",
      [](nb::handle given, const nb::list& players, std::int64_t steps, std::int64_t runs,
         std::uint64_t seed, std::optional<double> iota, int checkpoints,
         std::optional<double> oracle_gap, bool no_cache) {
        const Pomdp model = finite_model(given);
        Contest contest(model, {steps, runs, seed, iota, checkpoints, oracle_gap, no_cache},
                        players);
        contest.play();
        return contest.result();
      },
      nb::arg("model"), nb::arg("players"), nb::arg("steps"), nb::arg("runs"), nb::arg("seed"),
      nb::arg("iota").none(), nb::arg("checkpoints"), nb::arg("oracle_gap").none(),
      nb::arg("no_cache"), "Runs of players, each (label, name, settings, make); see oas.learn.");
  m.def(
      "_as_pomdp", [](nb::handle model) { return finite_model(model); }, nb::arg("model").none(),
      "The model that a model, an estimate, a path or the name of a problem stands for.");
  m.def(
      "_transition_error",
      [](const Pomdp& truth, nb::handle found, const std::string& whose) {
        const auto s = static_cast<std::size_t>(truth.num_states());
        const auto a = static_cast<std::size_t>(truth.num_actions());
        Table table = table_of(found, whose);
        require_shape(table, {a, s, s}, whose, "[A][S][S]");
        return transition_error(truth.transition(),
                                TransitionModel(truth.num_states(), truth.num_actions(),
                                                std::move(table.values), whose))
            .frobenius;
      },
      nb::arg("truth"), nb::arg("found"), nb::arg("whose"));
  m.def("_action_values", action_values, nb::arg("plan"), nb::arg("beliefs"),
        "[belief][A]: the one-step look-ahead of a plan, Q(b, a).");
  m.attr("_RUN_HEADER") = run_csv_header();
}

}  // namespace oas::python
