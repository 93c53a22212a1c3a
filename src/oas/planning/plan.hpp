#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/relative_value_iteration.hpp"

namespace oas {

/// One row of the table of planners, as `oas list` prints it.
struct PlannerInfo {
  std::string_view name;
  std::string_view summary;
};

/// All planners: grid, point.
[[nodiscard]] std::span<const PlannerInfo> planners();

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

/// A policy with all that is needed to act: the model, the floor ι and a bias v over beliefs, on a
/// grid (values at its points) or as α-vectors (v(b) = max_k α_k·b). The policy: filter the belief
/// exactly; the action that maximises g(b,a) + Σ_o P(o|b,a) v(b'_o) gets probability 1-(A-1)ι, the
/// others ι. A value: copies, compares, serialises ("oas-plan/1", docs/reference/planning.md).
struct Plan {
  explicit Plan(Pomdp of_model) : model(std::move(of_model)) {}

  Pomdp model;  ///< with a transition model
  std::string planner = "grid";
  double iota = 0.0;
  double gain_lower = 0.0;  ///< see Certificate; never above gain_upper
  double gain_upper = 0.0;  ///< proved, see RviResult::largest_increment and point_based.hpp
  SolveStatus status = SolveStatus::not_run;
  std::string message;
  int iterations = 0;
  double residual = 0.0;
  int resolution = 0;         ///< grid: m
  std::vector<double> bias;   ///< grid: v at the points
  std::vector<double> alpha;  ///< point: [K][S]
  Certificate certificate;
  std::optional<Optimism> optimism;
  std::vector<std::string> warnings;  ///< what whoever made the plan has to say about the model

  [[nodiscard]] int num_alpha() const {
    return static_cast<int>(alpha.size()) / model.num_states();
  }
  /// Throws InvalidArgument naming the part and the value.
  void validate() const;
  /// One line for people.
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const Plan&, const Plan&) = default;
};

[[nodiscard]] nlohmann::ordered_json plan_to_json(const Plan& plan);
/// Errors are ParseError "file: $.path: message" and name the value.
[[nodiscard]] Plan parse_plan(std::string_view text, const std::string& file);
[[nodiscard]] Plan read_plan(const std::string& path);
/// The file appears complete or not at all.
void write_plan(const std::string& path, const Plan& plan);

}  // namespace oas
