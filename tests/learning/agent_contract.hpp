// What the tests of every agent of the table share: models, settings that make short episodes, and
// steps of an agent. A new agent is covered by being in the table.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "oas/learning/agents.hpp"
#include "oas/simulation/environment.hpp"
#include "support/random_models.hpp"

namespace oas::test {

inline constexpr int kSteps = 3000;

struct Case {
  std::string agent;
  Timing timing = Timing::before;
};

inline std::vector<Case> cases() {
  std::vector<Case> list;
  for (const AgentInfo& info : agents()) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      list.push_back({std::string(info.name), timing});
    }
  }
  return list;
}

inline std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.agent + "_" + std::string(to_string(info.param.timing));
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

// Settings that put several episodes into kSteps steps, for the agents that have them.
inline std::vector<Setting> quick_settings(const std::string& agent) {
  const std::vector<Setting> wanted = {{"first_episode", "150"},
                                       {"resolution", "6"},
                                       {"tau1", "60"},
                                       {"tau2", "120"},
                                       {"particles", "20"}};
  std::vector<Setting> settings;
  for (const SettingInfo& known : find_agent(agent).settings()) {
    for (const Setting& setting : wanted) {
      if (setting.name == known.name) settings.push_back(setting);
    }
  }
  return settings;
}

inline Pomdp make_model(Timing timing, std::uint64_t seed = 5) {
  RandomModelOptions options;
  options.timing = timing;
  options.num_actions = 3;
  options.min_alpha = 0.2;
  options.concentration = 1.0;
  return random_model(options, seed);
}

struct Row {
  int action;
  double propensity;
  int observation;

  friend bool operator==(const Row&, const Row&) = default;
};

struct Play {
  std::vector<Row> rows;
  std::vector<std::vector<double>> probabilities;
};

// `count` more steps of an agent that is already under way; with `missing` every fourth observation
// or so is kept from it.
inline Play play(AnyAgent& agent, Environment& environment, Rng& rng, int num_actions, int count,
                 Rng* missing = nullptr) {
  Play done;
  std::vector<double> policy(static_cast<std::size_t>(num_actions));
  for (int t = 0; t < count; ++t) {
    agent.probabilities(policy);
    done.probabilities.push_back(policy);
    const Choice choice = agent.act(rng);
    Observation seen = environment.step(choice.action).observation;
    if (missing != nullptr && missing->below(4) == 0) seen = kMissing;
    agent.observe(seen);
    done.rows.push_back({choice.action.value(), choice.propensity, seen.value()});
  }
  return done;
}

class AgentContract : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] AnyAgent make() const {
    return make_agent(GetParam().agent, model_, quick_settings(GetParam().agent));
  }
  Pomdp model_ = make_model(GetParam().timing);
};

}  // namespace oas::test
