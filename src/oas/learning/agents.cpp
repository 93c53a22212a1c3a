#include "oas/learning/agents.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/learning/fixed_model_agent.hpp"
#include "oas/learning/oas_ucrl.hpp"
#include "oas/learning/pooled_ucrl.hpp"
#include "oas/learning/psrl.hpp"
#include "oas/learning/seeu.hpp"
#include "oas/learning/sm_ucrl.hpp"

namespace oas {

namespace {

constexpr std::size_t kOraclePoints = 6000;

struct FloorOption {
  std::optional<double> iota;

  template <class Fields>
  void visit(Fields& fields) {
    fields("iota", iota, {0.0}, "floor on the probability of every action, at most 1/A");
  }
};

struct NoOptions {
  template <class Fields>
  void visit(Fields& /*fields*/) {}
};

FixedModelAgent make_oracle(const Pomdp& model, double floor, const OracleOptions& options) {
  const int resolution = options.resolution > 0 ? options.resolution
                                                : resolution_for(model.num_states(), kOraclePoints);
  return FixedModelAgent::oracle(model, floor, resolution);
}

// A fit that starts warm is cheap: models are drawn anew so often that no bad one is played for
// long (docs/results/agents.md, "Why posterior sampling was ahead early").
struct LikelihoodUcrlOptions : PooledUcrlOptions {
  LikelihoodUcrlOptions() {
    estimator = PooledEstimator::likelihood;
    growth = 1.05;
  }
};

// What is left of the pooled agent's options in Action-wise OAS-UCRL.
struct ActionwiseOptions {
  PooledUcrlOptions pooled;
  double radius_scale = 0.0;

  ActionwiseOptions() {
    pooled.grow_by = PooledSchedule::GrowBy::plays;
    pooled.growth = 2.0;
    pooled.least_plays = 0.0;
    pooled.radius_by = RadiusBy::action;
  }

  template <class Fields>
  void visit(Fields& fields) {
    pooled.visit_first_episode(fields);
    fields("radius_scale", radius_scale, {0.0}, "factor on the radii; 0: no optimism");
    fields("delta", pooled.delta, {kAboveZero, kBelowOne}, "episode k uses delta/k^3");
    pooled.acting.visit(fields);
    fields.when(
        {"delta"}, [this] { return radius_scale > 0.0; },
        "used only by optimism, and radius_scale is 0");
  }
};

// What is left of them where every model that is played is drawn from the exact posterior.
struct GibbsPsrlOptions {
  PooledUcrlOptions pooled;

  GibbsPsrlOptions() {
    pooled.estimator = PooledEstimator::likelihood;
    pooled.exploration = PooledExploration::gibbs;
    pooled.least_plays = 0.0;
  }

  template <class Fields>
  void visit(Fields& fields) {
    pooled.visit_episodes(fields);
    fields("sweeps", pooled.sweeps, {1}, "of the sampler over all rows, for each draw");
    pooled.acting.visit(fields);
  }
};

// The same where they are drawn around the estimate, as wide as its information says.
struct LaplacePsrlOptions {
  PooledUcrlOptions pooled;

  LaplacePsrlOptions() {
    pooled.estimator = PooledEstimator::likelihood;
    pooled.exploration = PooledExploration::laplace;
    pooled.least_plays = 0.0;
  }

  template <class Fields>
  void visit(Fields& fields) {
    pooled.visit_episodes(fields);
    fields("prior", pooled.prior, {kAboveZero}, "imaginary transitions added to every entry");
    pooled.acting.visit(fields);
  }
};

// And where the best model that the rows do not rule out is played.
struct OmleOptions {
  PooledUcrlOptions pooled;

  OmleOptions() {
    pooled.estimator = PooledEstimator::likelihood;
    pooled.exploration = PooledExploration::likelihood_set;
    pooled.least_plays = 0.0;
  }

  template <class Fields>
  void visit(Fields& fields) {
    pooled.visit_episodes(fields);
    pooled.visit_set(fields);
    pooled.acting.visit(fields);
  }
};

// What is left of the pooled agent's options when it does not explore.
struct CertaintyEquivalentOptions {
  PooledUcrlOptions pooled;

  CertaintyEquivalentOptions() {
    pooled.exploration = PooledExploration::none;
    pooled.least_plays = 0.0;
  }

  template <class Fields>
  void visit(Fields& fields) {
    pooled.visit_episodes(fields);
    pooled.acting.visit(fields);
  }
};

PooledUcrlOptions pooled_options(std::span<const Setting> settings) {
  return options_from<PooledUcrlOptions>(settings, "oas-ucrl-pooled");
}
PooledUcrlOptions likelihood_options(std::span<const Setting> settings) {
  return options_from<LikelihoodUcrlOptions>(settings, "oas-ucrl-ml");
}
PooledUcrlOptions actionwise_options(std::span<const Setting> settings) {
  auto options = options_from<ActionwiseOptions>(settings, "oas-ucrl-actionwise");
  const bool optimistic = options.radius_scale > 0.0;
  options.pooled.exploration = optimistic ? PooledExploration::optimism : PooledExploration::none;
  if (optimistic) options.pooled.radius_scale = options.radius_scale;
  return options.pooled;
}
PooledUcrlOptions gibbs_psrl_options(std::span<const Setting> settings) {
  return options_from<GibbsPsrlOptions>(settings, "psrl-gibbs").pooled;
}
PooledUcrlOptions laplace_psrl_options(std::span<const Setting> settings) {
  return options_from<LaplacePsrlOptions>(settings, "psrl-laplace").pooled;
}
PooledUcrlOptions omle_options(std::span<const Setting> settings) {
  return options_from<OmleOptions>(settings, "omle").pooled;
}
PooledUcrlOptions certainty_equivalent_options(std::span<const Setting> settings) {
  return options_from<CertaintyEquivalentOptions>(settings, "certainty-equivalent").pooled;
}

template <PooledUcrlOptions (*Options)(std::span<const Setting>)>
AnyAgent make_pooled(const Pomdp& sensors, std::span<const Setting> settings) {
  return AnyAgent(PooledUcrl(sensors, Options(settings)));
}

template <PooledUcrlOptions (*Options)(std::span<const Setting>)>
SplitAgent split_pooled(const Pomdp& sensors, std::span<const Setting> settings) {
  const PooledUcrlOptions options = Options(settings);
  OAS_REQUIRE(
      options.grow_by == PooledSchedule::GrowBy::steps,
      "grow_by is plays; who learns from several units plans after so many rows: use steps");
  PooledLearner learner(sensors, options);
  const double floor = learner.floor();
  return {std::move(learner),
          BeliefController(sensors, options.acting.grid_resolution(sensors.num_states())), floor};
}

FixedModelAgent oracle_of(const Pomdp& model, std::span<const Setting> settings) {
  return make_oracle(model, 0.0, options_from<OracleOptions>(settings, "oracle"));
}
FixedModelAgent oracle_floor_of(const Pomdp& model, std::span<const Setting> settings) {
  const auto options = options_from<FloorOracleOptions>(settings, "oracle-floor");
  return make_oracle(model, options.iota.value_or(default_floor(model.num_actions())),
                     options.oracle);
}
FixedModelAgent myopic_of(const Pomdp& sensors, std::span<const Setting> settings) {
  const auto options = options_from<FloorOption>(settings, "myopic");
  return FixedModelAgent::myopic(sensors,
                                 options.iota.value_or(default_floor(sensors.num_actions())));
}

template <FixedModelAgent (*Make)(const Pomdp&, std::span<const Setting>)>
AnyAgent make_fixed(const Pomdp& model, std::span<const Setting> settings) {
  return AnyAgent(Make(model, settings));
}

template <FixedModelAgent (*Make)(const Pomdp&, std::span<const Setting>)>
SplitAgent split_fixed(const Pomdp& model, std::span<const Setting> settings) {
  const FixedModelAgent agent = Make(model, settings);
  return {std::nullopt, agent.controller(), agent.floor()};
}

SplitAgent split_uniform(const Pomdp& sensors, std::span<const Setting> settings) {
  static_cast<void>(options_from<NoOptions>(settings, "uniform"));
  return {std::nullopt, BeliefController(sensors, /*resolution=*/1), 1.0 / sensors.num_actions()};
}

constexpr std::array kAgents = {
    AgentInfo{"oas-ucrl", "the paper's agent: doubling episodes, samples of the last one only",
              "Russo, Metelli, Restelli (AAAI 2025), Algorithm 2", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(
                    OasUcrl(sensors, options_from<OasUcrlOptions>(settings, "oas-ucrl")));
              },
              describe_options<OasUcrlOptions>, nullptr},
    AgentInfo{"oas-ucrl-pooled", "samples of all episodes together, radii by row, floor 0 allowed",
              "docs/reference/agents.md", false, make_pooled<pooled_options>,
              describe_options<PooledUcrlOptions>, split_pooled<pooled_options>},
    AgentInfo{"oas-ucrl-ml",
              "oas-ucrl-pooled with converged maximum likelihood in place of moments",
              "docs/reference/agents.md", false, make_pooled<likelihood_options>,
              describe_options<LikelihoodUcrlOptions>, split_pooled<likelihood_options>},
    AgentInfo{"oas-ucrl-actionwise",
              "moments of all episodes by action, no floor; the plays of an action double",
              "Russo, Metelli, Restelli (AISTATS 2025), arXiv 2501.18790", false,
              make_pooled<actionwise_options>, describe_options<ActionwiseOptions>, nullptr},
    AgentInfo{"certainty-equivalent", "oas-ucrl-pooled that plays its estimate as if it were true",
              "docs/reference/agents.md", false, make_pooled<certainty_equivalent_options>,
              describe_options<CertaintyEquivalentOptions>,
              split_pooled<certainty_equivalent_options>},
    AgentInfo{"psrl", "posterior sampling: plays a model drawn from a particle posterior",
              "Jafarnia-Jahromi, Jain, Nayyar (AISTATS 2022), Algorithm 1", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(Psrl(sensors, options_from<PsrlOptions>(settings, "psrl")));
              },
              describe_options<PsrlOptions>, nullptr},
    AgentInfo{"psrl-gibbs",
              "posterior sampling: plays a model drawn from the exact posterior by Gibbs sampling",
              "docs/reference/agents.md", false, make_pooled<gibbs_psrl_options>,
              describe_options<GibbsPsrlOptions>, split_pooled<gibbs_psrl_options>},
    AgentInfo{"psrl-laplace",
              "posterior sampling: plays a model drawn around its estimate, by the observed "
              "information",
              "docs/reference/agents.md", false, make_pooled<laplace_psrl_options>,
              describe_options<LaplacePsrlOptions>, split_pooled<laplace_psrl_options>},
    AgentInfo{"omle",
              "optimistic maximum likelihood: plays the best model that the rows do not rule out",
              "Liu, Netrapalli, Szepesvari, Jin (2022), arXiv 2209.14997", false,
              make_pooled<omle_options>, describe_options<OmleOptions>, split_pooled<omle_options>},
    AgentInfo{"seeu",
              "explores every action in turn, spectral estimate; views=emission-columns is shown "
              "the hidden state",
              "Xiong, Chen, Gao, Zhou (2021), arXiv 2107.03635", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(Seeu(sensors, options_from<SeeuOptions>(settings, "seeu")));
              },
              describe_options<SeeuOptions>, nullptr},
    AgentInfo{"sm-ucrl", "memoryless policies, spectral estimate of one episode at a time",
              "Azizzadenesheli, Lazaric, Anandkumar (COLT 2016)", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(SmUcrl(sensors, options_from<SmUcrlOptions>(settings, "sm-ucrl")));
              },
              describe_options<SmUcrlOptions>, nullptr},
    AgentInfo{"oracle", "knows the dynamics; the best policy", "docs/reference/agents.md", true,
              make_fixed<oracle_of>, describe_options<OracleOptions>, split_fixed<oracle_of>},
    AgentInfo{"oracle-floor", "knows the dynamics; the best policy with floor iota",
              "docs/reference/agents.md", true, make_fixed<oracle_floor_of>,
              describe_options<FloorOracleOptions>, split_fixed<oracle_floor_of>},
    AgentInfo{"myopic", "knows no dynamics; greedy on the next reward", "docs/reference/agents.md",
              false, make_fixed<myopic_of>, describe_options<FloorOption>, split_fixed<myopic_of>},
    AgentInfo{"uniform", "every action with probability 1/A", "docs/reference/agents.md", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                static_cast<void>(options_from<NoOptions>(settings, "uniform"));
                return AnyAgent(UniformAgent(sensors.num_actions(), sensors.num_observations()));
              },
              describe_options<NoOptions>, split_uniform},
};

}  // namespace

std::span<const AgentInfo> agents() { return kAgents; }

const AgentInfo& find_agent(std::string_view name) {
  const auto* const found = std::find_if(kAgents.begin(), kAgents.end(),
                                         [&](const AgentInfo& info) { return info.name == name; });
  if (found != kAgents.end()) return *found;
  std::string names;
  for (const AgentInfo& info : kAgents) {
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  throw InvalidArgument(fmt::format("there is no agent '{}'; known are {}", name, names));
}

namespace {

std::string text_of(std::span<const Setting> settings) {
  std::vector<std::string> words;
  for (const Setting& setting : settings) words.push_back(setting.name + "=" + setting.value);
  std::sort(words.begin(), words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

AnyAgent make_agent(std::string_view name, const Pomdp& model, std::span<const Setting> settings) {
  const AgentInfo& info = find_agent(name);
  auto told =
      std::make_shared<const Pomdp>(info.knows_dynamics ? model : model.without_transition());
  AnyAgent agent = info.make(*told, settings);
  agent.set_identity({std::string(info.name), text_of(settings), std::move(told)});
  return agent;
}

SplitAgent split_agent(std::string_view name, const Pomdp& model,
                       std::span<const Setting> settings) {
  const AgentInfo& info = find_agent(name);
  if (info.split != nullptr) {
    return info.split(info.knows_dynamics ? model : model.without_transition(), settings);
  }
  std::string names;
  for (const AgentInfo& each : agents()) {
    if (each.split != nullptr) names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  throw InvalidArgument(fmt::format(
      "agent '{}' cannot be split into one that learns and several that act; {} can", name, names));
}

}  // namespace oas
