#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/simulation/environment.hpp"

/// Units of a simulated system that ask a live agent, as clients do.
namespace oas::test {

/// Plans often and cheaply: first after 40 steps.
[[nodiscard]] LiveOptions quick_options(const std::string& journal);

/// Parses the answer; fails the test where it is refused.
nlohmann::json ask(LiveAgent& agent, const nlohmann::json& request);
/// The status of a request, whatever it is.
[[nodiscard]] int status_of(LiveAgent& agent, const std::string& call, const std::string& body);

/// One unit and its client: what it has to ask next follows from the last answer.
class FleetUnit {
 public:
  FleetUnit(const Pomdp& model, std::string name, std::uint64_t seed);

  /// The request that is waiting for an answer; the same until take() is called.
  [[nodiscard]] const nlohmann::json& request() const { return request_; }
  /// Its answer.
  void take(const nlohmann::json& answer);
  [[nodiscard]] const std::string& name() const { return name_; }

  /// All that was told: by step, the action's name or number and its propensity; and what was seen.
  struct Told {
    nlohmann::json action;
    double propensity = 0.0;
    nlohmann::json belief;
    nlohmann::json observation;
  };
  [[nodiscard]] const std::vector<Told>& told() const { return told_; }

 private:
  const Pomdp* model_;
  std::string name_;
  Environment environment_;
  Rng rng_;
  nlohmann::json request_;
  std::vector<Told> told_;
};

}  // namespace oas::test
