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

AnyAgent make_oracle(const Pomdp& model, double floor, const OracleOptions& options) {
  const int resolution = options.resolution > 0 ? options.resolution
                                                : resolution_for(model.num_states(), kOraclePoints);
  return AnyAgent(FixedModelAgent::oracle(model, floor, resolution));
}

struct LikelihoodUcrlOptions : PooledUcrlOptions {
  LikelihoodUcrlOptions() { estimator = PooledEstimator::likelihood; }
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

constexpr std::array kAgents = {
    AgentInfo{"oas-ucrl", "the paper's agent: doubling episodes, samples of the last one only",
              "Russo, Metelli, Restelli (AAAI 2025), Algorithm 2", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(
                    OasUcrl(sensors, options_from<OasUcrlOptions>(settings, "oas-ucrl")));
              },
              describe_options<OasUcrlOptions>},
    AgentInfo{"oas-ucrl-pooled", "samples of all episodes together, radii by row, floor 0 allowed",
              "docs/reference/agents.md", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(PooledUcrl(
                    sensors, options_from<PooledUcrlOptions>(settings, "oas-ucrl-pooled")));
              },
              describe_options<PooledUcrlOptions>},
    AgentInfo{"oas-ucrl-ml",
              "oas-ucrl-pooled with converged maximum likelihood in place of moments",
              "docs/reference/agents.md", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(PooledUcrl(
                    sensors, options_from<LikelihoodUcrlOptions>(settings, "oas-ucrl-ml")));
              },
              describe_options<LikelihoodUcrlOptions>},
    AgentInfo{
        "certainty-equivalent", "oas-ucrl-pooled that plays its estimate as if it were true",
        "docs/reference/agents.md", false,
        [](const Pomdp& sensors, std::span<const Setting> settings) {
          return AnyAgent(PooledUcrl(
              sensors,
              options_from<CertaintyEquivalentOptions>(settings, "certainty-equivalent").pooled));
        },
        describe_options<CertaintyEquivalentOptions>},
    AgentInfo{"psrl", "posterior sampling: plays a model drawn from a particle posterior",
              "Jafarnia-Jahromi, Jain, Nayyar (AISTATS 2022), Algorithm 1", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(Psrl(sensors, options_from<PsrlOptions>(settings, "psrl")));
              },
              describe_options<PsrlOptions>},
    AgentInfo{"seeu",
              "explores every action in turn, spectral estimate; views=emission-columns is shown "
              "the hidden state",
              "Xiong, Chen, Gao, Zhou (2021), arXiv 2107.03635", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(Seeu(sensors, options_from<SeeuOptions>(settings, "seeu")));
              },
              describe_options<SeeuOptions>},
    AgentInfo{"sm-ucrl", "memoryless policies, spectral estimate of one episode at a time",
              "Azizzadenesheli, Lazaric, Anandkumar (COLT 2016)", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                return AnyAgent(SmUcrl(sensors, options_from<SmUcrlOptions>(settings, "sm-ucrl")));
              },
              describe_options<SmUcrlOptions>},
    AgentInfo{"oracle", "knows the dynamics; the best policy", "docs/reference/agents.md", true,
              [](const Pomdp& model, std::span<const Setting> settings) {
                return make_oracle(model, 0.0, options_from<OracleOptions>(settings, "oracle"));
              },
              describe_options<OracleOptions>},
    AgentInfo{"oracle-floor", "knows the dynamics; the best policy with floor iota",
              "docs/reference/agents.md", true,
              [](const Pomdp& model, std::span<const Setting> settings) {
                const auto options = options_from<FloorOracleOptions>(settings, "oracle-floor");
                return make_oracle(model, options.iota.value_or(default_floor(model.num_actions())),
                                   options.oracle);
              },
              describe_options<FloorOracleOptions>},
    AgentInfo{"myopic", "knows no dynamics; greedy on the next reward", "docs/reference/agents.md",
              false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                const auto options = options_from<FloorOption>(settings, "myopic");
                return AnyAgent(FixedModelAgent::myopic(
                    sensors, options.iota.value_or(default_floor(sensors.num_actions()))));
              },
              describe_options<FloorOption>},
    AgentInfo{"uniform", "every action with probability 1/A", "docs/reference/agents.md", false,
              [](const Pomdp& sensors, std::span<const Setting> settings) {
                static_cast<void>(options_from<NoOptions>(settings, "uniform"));
                return AnyAgent(UniformAgent(sensors.num_actions(), sensors.num_observations()));
              },
              describe_options<NoOptions>},
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

}  // namespace oas
