#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <cstdint>

#include "bindings.hpp"
#include "log.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/log_simulation.hpp"
#include "oas/planning/plan.hpp"
#include "typed.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

// Rows of simulated runs as a log.
class SimulatedRows {
 public:
  SimulatedRows(std::shared_ptr<const AnyModel> model, bool reward, bool state)
      : log_{std::move(model), {}, false}, reward_(reward), state_(state) {}

  void add(const Trajectory& rows, std::span<const double> readings, std::int64_t run) {
    LogBlock& all = log_.block;
    if (run != run_) all.run_starts.push_back(all.rows.size());
    run_ = run;
    const auto append = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(all.rows.actions, rows.actions);
    append(all.rows.observations, rows.observations);
    append(all.rows.propensities, rows.propensities);
    if (reward_) append(all.rows.rewards, rows.rewards);
    if (state_) append(all.rows.states, rows.states);
    append(all.readings, readings);
  }
  [[nodiscard]] Log take() { return std::move(log_); }

 private:
  Log log_;
  bool reward_;
  bool state_;
  std::int64_t run_ = -1;
};

std::variant<PolicyOptions, PlanPlayer> player_of(nb::handle policy, nb::handle filter,
                                                  std::optional<double> iota) {
  const bool planned = nb::isinstance<Plan>(policy);
  if (planned || std::string_view(nb::str(policy).c_str()).ends_with(".json")) {
    PlanPlayer player{planned ? nb::cast<const Plan&>(policy) : read_plan(path_of(policy)), {}};
    if (iota) player.plan.iota = *iota;
    if (!filter.is_none()) player.filter = finite_model(filter);
    return player;
  }
  OAS_REQUIRE(nb::isinstance<nb::str>(policy),
              "policy is {}; it must be a name, a plan or the path of one", typed(policy));
  PolicyOptions options;
  options.name = nb::cast<std::string>(policy);
  options.min_action_probability = iota;
  if (!filter.is_none()) options.own_transition = chain_of(any_model(filter)).transition();
  return options;
}

// Rows that cannot be held would end this process, and perhaps others.
void require_memory(const AnyModel& model, const LogSimulationOptions& options) {
  const auto* real = std::get_if<ContinuousPomdp>(&model);
  const bool reads = real != nullptr && real->has_sensors();
  const int numbers = 1 + (options.reward ? 1 : 0) + (reads ? real->sensors().dimension() : 0);
  const int labels = 2 + (options.state ? 1 : 0);
  const double bytes = static_cast<double>(8 * numbers + 4 * labels) *
                       static_cast<double>(options.runs) * static_cast<double>(options.steps);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  constexpr double kGigabyte = 1e9;
  OAS_REQUIRE(bytes <= there,
              "{} runs of {} steps take {:.0f} GB of memory, and this machine has {:.0f}; simulate "
              "less at a time, or by the command oas simulate, which writes files",
              options.runs, options.steps, bytes / kGigabyte, there / kGigabyte);
}

Log simulate(const AnyModel& model, const LogSimulationOptions& options) {
  require_memory(model, options);
  SimulatedRows rows(std::make_shared<const AnyModel>(model), options.reward, options.state);
  run_work({"rows", options.runs * options.steps}, [&](const RowsRead& progress) {
    simulate_rows(
        model, options,
        [&](const Trajectory& block, std::span<const double> readings, std::int64_t run) {
          rows.add(block, readings, run);
        },
        threads(), progress);
  });
  return rows.take();
}

}  // namespace

void bind_simulation(nb::module_& m) {
  m.def(
      "simulate",
      [](nb::handle model, nb::handle policy, std::int64_t steps, std::int64_t runs,
         std::uint64_t seed, std::optional<double> iota, nb::handle filter, bool reward,
         bool state) {
        LogSimulationOptions options;
        options.policy = player_of(policy, filter, iota);
        options.runs = runs;
        options.steps = steps;
        options.seed = seed;
        options.reward = reward;
        options.state = state;
        return simulate(any_model(model), options);
      },
      nb::arg("model").none(), nb::arg("policy").none() = "belief", nb::kw_only(), nb::arg("steps"),
      nb::arg("runs") = 1, nb::arg("seed") = 1, nb::arg("iota") = nb::none(),
      nb::arg("filter") = nb::none(), nb::arg("reward") = true, nb::arg("state") = true,
      "Lets a policy act in a model: `runs` runs of `steps` steps. `policy` is a name (belief,\n"
      "uniform, round-robin, …), a Plan or the path of one; `iota` the smallest probability of\n"
      "every action (default 1/(10 A)); `filter` a model whose dynamics the policy believes in.\n"
      "The same rows as `oas simulate` with this seed.");
}

}  // namespace oas::python
