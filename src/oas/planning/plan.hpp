#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/relative_value_iteration.hpp"
#include "oas/planning/horizon/horizon_policy.hpp"

namespace oas {

/// How gain_lower was found: simulation of the policy in the plan's own model.
struct Certificate {
  double level = 0.0;  ///< P(gain of the policy >= gain_lower), of a Student batch-means limit
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;  ///< 0: gain_lower is not certified
  double mean = 0.0;        ///< average reward of the simulation
  double half_width = 0.0;  ///< mean - half_width is the one-sided limit at `level`

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// What optimistic planning adds: the model is then the best member found of the confidence set.
struct Optimism {
  double radius = 0.0;      ///< largest r_a(s)
  double gain_bound = 0.0;  ///< at least the best gain of every model in the set

  friend bool operator==(const Optimism&, const Optimism&) = default;
};

/// What a discounted plan adds: the sum Σ_t γ^t r_t from the model's start. The bias is then γ
/// times the discounted value, so that the look-ahead is the discounted one.
struct DiscountedValue {
  double discount = 0.0;  ///< γ, in (0, 1)
  double lower = 0.0;     ///< of this policy: simulated, at the level of the certificate
  double upper = 0.0;     ///< of every policy of the class: proved

  friend bool operator==(const DiscountedValue&, const DiscountedValue&) = default;
};

/// What a plan for a number of steps adds: the sum Σ_{t<N} γ^t r_t from the model's start. The plan
/// acts by the HorizonPolicy in its bias; gain_lower and gain_upper are these bounds over Σ_t γ^t.
struct HorizonValue {
  int steps = 0;          ///< N
  double discount = 1.0;  ///< γ, in (0, 1]
  double lower = 0.0;     ///< of this policy: exact
  double upper = 0.0;     ///< of every policy: proved

  friend bool operator==(const HorizonValue&, const HorizonValue&) = default;
};

/// What a plan under a limit adds. The rewards of the plan's own model are then less by
/// `multiplier` in the limited states: gain_lower and gain_upper are about those.
struct LimitedStates {
  std::vector<std::string> states;
  double most = 0.0;             ///< share of the steps in them that is allowed, in the long run
  double multiplier = 0.0;       ///< penalty per step in them (Lagrange), in units of reward
  double frequency = 0.0;        ///< of this policy: simulated
  double frequency_upper = 0.0;  ///< one-sided limit at the level of the certificate
  double gain_lower = 0.0;       ///< of this policy in the rewards as given: simulated, same level
  double gain_upper = 0.0;       ///< of every policy that keeps the limit: proved

  friend bool operator==(const LimitedStates&, const LimitedStates&) = default;
};

/// The gain of a plan's policy, or its sum over a horizon, over dynamics drawn from the posterior
/// of an estimate.
struct PosteriorGain {
  double confidence = 0.0;
  int draws = 0;
  double mean = 0.0;
  double lower = 0.0;
  double upper = 0.0;

  friend bool operator==(const PosteriorGain&, const PosteriorGain&) = default;
};

/// A bias v over beliefs by its values at the points of a regular grid, interpolated in between.
struct GridBias {
  static constexpr std::string_view kName = "grid";  ///< in plan files and in the table of planners

  int resolution = 0;  ///< m
  std::vector<double> values;

  /// Throws InvalidArgument when the values are not those of a grid over so many states.
  void validate(int num_states) const;
  [[nodiscard]] std::string brief(int num_states) const;

  friend bool operator==(const GridBias&, const GridBias&) = default;
};

/// A bias v over beliefs as a maximum of vectors: v(b) = max_k α_k·b.
struct VectorBias {
  static constexpr std::string_view kName = "point";

  std::vector<double> alpha;  ///< [K][S]

  /// Throws InvalidArgument on fewer than one state.
  [[nodiscard]] int num_vectors(int num_states) const;
  /// Throws InvalidArgument when the numbers are not one or more vectors over so many states.
  void validate(int num_states) const;
  [[nodiscard]] std::string brief(int num_states) const;

  friend bool operator==(const VectorBias&, const VectorBias&) = default;
};

/// What a plan acts by: a function of beliefs to look ahead to, or the nodes of a plan that ends.
using PlanBias = std::variant<GridBias, VectorBias, HorizonPolicy>;

/// A policy with all that is needed to act: the model, the floor ι and a bias v over beliefs. The
/// policy: filter the belief exactly; the action that maximises g(b,a) + Σ_o P(o|b,a) v(b'_o) gets
/// probability 1-(A-1)ι, the others ι. A plan for a horizon is another: a HorizonPolicy, without
/// belief and floor. A value: copies, compares, serialises ("oas-plan/1",
/// docs/reference/planning.md).
struct Plan {
  explicit Plan(Pomdp of_model) : model(std::move(of_model)) {}

  Pomdp model;              ///< the model that the plan was made for, with a transition model
  double iota = 0.0;        ///< smallest probability of every action
  double gain_lower = 0.0;  ///< the policy earns at least this a step, see Certificate
  double gain_upper = 0.0;  ///< no policy earns more a step: proved, see RviResult, point_based.hpp
  SolveStatus status = SolveStatus::not_run;
  std::string message;  ///< how the solver ended
  int iterations = 0;   ///< iterations of the solver
  double residual = 0.0;
  PlanBias bias;
  Certificate certificate;
  std::optional<Optimism> optimism;
  std::optional<DiscountedValue> discounted;
  std::optional<HorizonValue> horizon;
  std::optional<LimitedStates> limited;
  std::optional<PosteriorGain> posterior;
  std::vector<std::string> warnings;  ///< warnings about the model that the plan was made for

  /// Resolution of the grid under the bias; 0: there is no grid.
  [[nodiscard]] int grid_resolution() const;
  /// The policy of a plan for a horizon; null: the plan never ends.
  [[nodiscard]] const HorizonPolicy* horizon_policy() const {
    return std::get_if<HorizonPolicy>(&bias);
  }
  /// Throws InvalidArgument where the plan ends; `what` is what needs one that does not: "forecasts
  /// look beyond its end".
  void require_endless(std::string_view what) const;
  /// Throws InvalidArgument naming the part and the value.
  void validate() const;
  /// One line for people.
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Throws InvalidArgument on a plan that is not valid.
[[nodiscard]] nlohmann::ordered_json plan_to_json(const Plan& plan);
/// Errors are ParseError "file: $.path: message" and name the value.
[[nodiscard]] Plan parse_plan(std::string_view text, const std::string& file);
[[nodiscard]] Plan read_plan(const std::string& path);
/// The file appears complete or not at all.
void write_plan(const std::string& path, const Plan& plan);

}  // namespace oas
