#pragma once

#include <optional>
#include <span>
#include <vector>

#include "oas/belief/filter_kernel.hpp"
#include "oas/core/index.hpp"
#include "oas/model/belief.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

/// Keeps the exact belief P(s_t | all rows before t) of one run: starts at the model's start and is
/// told each row. A row without observation (kMissing) moves the belief by T_a alone.
class BeliefFilter {
 public:
  /// Throws InvalidArgument when the model has no transition model.
  explicit BeliefFilter(const Pomdp& model);

  /// Back to the start of a run; returns P(first reading), 1 where there is none, as update() does.
  double reset(const RunStart& start = {});
  /// Throws InvalidArgument on a wrong size.
  void reset(const Belief& belief);
  /// To the start of a run whose first reading is this one; returns its probability. Throws
  /// InvalidArgument when the model has no first_observation, or not this observation.
  double begin(Observation first);

  /// Takes in one row; returns P(observation | rows so far, action), 1 for kMissing. On 0 (the
  /// model says this cannot happen) the observation is skipped and the filter stays usable. Throws
  /// InvalidArgument on an index that does not exist, and has changed nothing then.
  double update(Action action, Observation observation);

  [[nodiscard]] std::span<const double> belief() const {
    return std::span(belief_).first(static_cast<std::size_t>(kernel_.num_states()));
  }

 private:
  FilterKernel<0> kernel_;
  int num_actions_;
  int num_observations_;
  std::vector<double> start_;
  std::optional<ObservationModel> first_sensor_;
  std::vector<double> belief_;
  std::vector<double> scratch_;
};

}  // namespace oas
