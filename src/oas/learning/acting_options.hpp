#pragma once

#include <cstddef>
#include <optional>

#include "oas/core/settings.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/grid/relative_value_iteration.hpp"

namespace oas {

/// How an agent plans and acts once it has dynamics in mind; every planning agent has these.
struct ActingOptions {
  /// Floor ι: every action keeps at least this probability; in [0, 1/A]. Unset: the agent's own.
  std::optional<double> iota;
  /// Resolution of the belief grid; 0: the finest of at most kDefaultPoints points.
  int resolution = 0;
  /// Span at which planning stops, in reward units; > 0.
  double span_tolerance = 1e-4;

  static constexpr std::size_t kDefaultPoints = 1500;  ///< S = 3: resolution 53

  template <class Fields>
  void visit(Fields& fields) {
    fields("iota", iota, {0.0}, "floor on the probability of every action, at most 1/A");
    fields("resolution", resolution, {0},
           "of the belief grid; 0: the finest of at most 1500 points");
    fields("span_tolerance", span_tolerance, {kAboveZero}, "of the planner, in reward units");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;

  [[nodiscard]] int grid_resolution(int num_states) const;
  [[nodiscard]] RviOptions planner(double floor) const;
};

/// The resolution of the finest belief grid of at most `max_points` points, at least 2.
[[nodiscard]] int resolution_for(int num_states, std::size_t max_points);

}  // namespace oas
