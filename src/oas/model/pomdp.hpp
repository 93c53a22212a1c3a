#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/model/labels.hpp"
#include "oas/model/observation_counts.hpp"
#include "oas/model/observation_model.hpp"
#include "oas/model/reward.hpp"
#include "oas/model/timing.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// What a Pomdp is made of; fill in by name and hand over.
struct PomdpParts {
  Timing timing = Timing::before;
  Rows rows = Rows::action_first;  ///< reading_first: only with timing `after`
  Labels states;
  Labels actions;
  Labels observations;
  std::vector<double> start;                  ///< [S]; empty: uniform
  std::optional<TransitionModel> transition;  ///< absent when unknown
  ObservationModel sensors;
  /// The sensor of the first reading of a run, as that of one action; only with timing `after`.
  /// Absent where rows are reading-first: that of all actions, which must then be the same.
  std::optional<ObservationModel> first_observation;
  Reward reward;
  std::optional<double> discount;  ///< carried along, not used
  /// Of calibrated sensors: the labelled rows behind them. Whoever changes the sensors drops it.
  std::optional<ObservationCounts> observation_counts;
};

/// A partially observed Markov decision process whose sensors are known and whose dynamics may be:
/// sizes or names, timing, start, T (optional), Z, reward. Checked once, then immutable; a value.
class Pomdp {
 public:
  /// Throws InvalidArgument naming the part, the index and the value.
  explicit Pomdp(PomdpParts parts);

  [[nodiscard]] Timing timing() const { return parts_.timing; }
  [[nodiscard]] Rows rows() const { return parts_.rows; }
  [[nodiscard]] bool reading_first() const { return parts_.rows == Rows::reading_first; }
  [[nodiscard]] int num_states() const { return parts_.states.size(); }
  [[nodiscard]] int num_actions() const { return parts_.actions.size(); }
  [[nodiscard]] int num_observations() const { return parts_.observations.size(); }
  [[nodiscard]] const Labels& states() const { return parts_.states; }
  [[nodiscard]] const Labels& actions() const { return parts_.actions; }
  [[nodiscard]] const Labels& observations() const { return parts_.observations; }
  [[nodiscard]] const std::vector<double>& start() const { return parts_.start; }
  [[nodiscard]] const ObservationModel& sensors() const { return parts_.sensors; }
  /// P(o_0 | s_0) as the sensor of one action; always there where rows are reading-first.
  [[nodiscard]] const std::optional<ObservationModel>& first_observation() const {
    return parts_.first_observation;
  }
  /// Whether that is the sensor that all actions have.
  [[nodiscard]] bool first_is_common() const;
  [[nodiscard]] const Reward& reward() const { return parts_.reward; }
  [[nodiscard]] std::optional<double> discount() const { return parts_.discount; }

  /// Absent: the sensors are exact.
  [[nodiscard]] const std::optional<ObservationCounts>& observation_counts() const {
    return parts_.observation_counts;
  }

  [[nodiscard]] bool has_transition() const { return parts_.transition.has_value(); }
  /// Throws InvalidArgument when the transition model is unknown.
  [[nodiscard]] const TransitionModel& transition() const;

  /// The same sensors and rewards with other dynamics, or with none: what a learner may see.
  [[nodiscard]] Pomdp with_transition(TransitionModel transition) const;
  [[nodiscard]] Pomdp without_transition() const;
  /// The same model whose rows are written in this way. Throws as the constructor does.
  [[nodiscard]] Pomdp with_rows(Rows rows) const;

  /// A×S table of expected rewards under this model's own transition; see model/reward.hpp.
  [[nodiscard]] Matrix expected_reward() const;

  /// One line for people: "3 states, 2 actions, 4 observations, timing before, transition known".
  [[nodiscard]] std::string brief() const;

  [[nodiscard]] const PomdpParts& parts() const { return parts_; }

  friend bool operator==(const Pomdp& a, const Pomdp& b);

 private:
  PomdpParts parts_;
};

}  // namespace oas
