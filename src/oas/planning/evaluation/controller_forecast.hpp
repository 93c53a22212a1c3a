#pragma once

#include <memory>
#include <span>
#include <vector>

#include "oas/belief/forecast.hpp"
#include "oas/planning/policies/controller.hpp"

namespace oas {

/// Forecaster for a controller in place of a schedule: what happens from a belief on if actions
/// answer what will be observed. Exact: laws over (node, state), and linear systems for `ever` and
/// the mean time. Cost a step: O(N S² A O) at most.
class ControllerForecaster {
 public:
  /// `nodes` are those from which forecasts may be asked for. The schedule of the question is not
  /// looked at. Keeps copies. Throws InvalidArgument where sizes differ, beyond kMaxGraphPairs
  /// pairs, and when an observation that can come has no next node.
  ControllerForecaster(Pomdp truth, Controller controller, ForecastQuestion question,
                       std::span<const int> nodes);
  ~ControllerForecaster();
  ControllerForecaster(ControllerForecaster&&) noexcept;
  ControllerForecaster& operator=(ControllerForecaster&&) noexcept;

  /// From this belief over states, with the controller in `node`.
  [[nodiscard]] Forecast operator()(std::span<const double> belief, int node) const;
  /// From this belief over the states that `action` has led to, in timing `after`, where its
  /// observation o is still to come and puts the controller into node `after_reading[o]`.
  [[nodiscard]] Forecast operator()(std::span<const double> belief, Action action,
                                    std::span<const int> after_reading) const;

 private:
  struct Chains;
  std::unique_ptr<Chains> chains_;
};

}  // namespace oas
