#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>

#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

struct OracleOptions {
  int resolution = 0;  ///< of the belief grid; 0: the finest of at most 6000 points

  template <class Fields>
  void visit(Fields& fields) {
    fields("resolution", resolution, {0},
           "of the belief grid; 0: the finest of at most 6000 points");
  }
};

struct FloorOracleOptions {
  std::optional<double> iota;  ///< floor, in [0, 1/A]; unset: 1/(10A)
  OracleOptions oracle;

  template <class Fields>
  void visit(Fields& fields) {
    fields("iota", iota, {0.0}, "floor on the probability of every action, at most 1/A");
    oracle.visit(fields);
  }
};

/// Plays one model for ever and learns nothing: the references that learners are judged by.
class FixedModelAgent {
 public:
  /// Knows `model`, transition included, and plays its best policy with this floor.
  static FixedModelAgent oracle(const Pomdp& model, double floor, int resolution);
  /// Greedy on the next reward under a belief filtered with uniform dynamics: knows no dynamics.
  static FixedModelAgent myopic(const Pomdp& sensors, double floor);

  void begin(Observation first) { controller_.begin(first); }
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return {}; }
  /// Empty before there are dynamics to keep it with.
  [[nodiscard]] std::span<const double> belief() const { return controller_.belief(); }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

  [[nodiscard]] const BeliefController& controller() const { return controller_; }
  [[nodiscard]] double floor() const { return floor_; }

 private:
  FixedModelAgent(const Pomdp& sensors, double floor, int resolution);

  BeliefController controller_;
  double floor_;
  Action last_;
};

/// Every action with probability 1/A.
class UniformAgent {
 public:
  UniformAgent(int num_actions, int num_observations)
      : policy_(num_actions), num_actions_(num_actions), num_observations_(num_observations) {}
  void begin(Observation first) { observe(first); }
  [[nodiscard]] Choice act(Rng& rng) { return policy_.act(rng); }
  void observe(Observation observation);
  void probabilities(std::span<double> out) {
    std::fill(out.begin(), out.end(), 1.0 / num_actions_);
  }
  [[nodiscard]] std::span<const Episode> episodes() const { return {}; }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  UniformPolicy policy_;
  int num_actions_;
  int num_observations_;
};

}  // namespace oas
