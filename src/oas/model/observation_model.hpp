#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas {

/// The sensors, known: for each action a the column-stochastic O×S matrix Z_a(o,s) = P(o | s, a)
/// (the paper's 𝕆_a), stored as [action][state][observation], as in model files. Which of the two
/// states of a step emits is the model's Timing, not a matter of this class. All but operator()
/// throw InvalidArgument on an index that does not exist.
class ObservationModel {
 public:
  /// O×S view whose columns are contiguous in memory.
  using View = Eigen::Map<const Eigen::MatrixXd>;

  ObservationModel() = default;
  /// Throws InvalidArgument naming "what[a][s]" unless all are distributions over observations.
  ObservationModel(int num_states, int num_actions, int num_observations,
                   std::vector<double> values, std::string_view what = "observation");

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }

  [[nodiscard]] View matrix(Action action) const {
    require_row(action, State{0});
    return {values_.data() + offset(action, State{0}), num_observations_, num_states_};
  }
  /// P(· | state, action), contiguous.
  [[nodiscard]] std::span<const double> distribution(Action action, State state) const {
    require_row(action, state);
    return std::span(values_).subspan(offset(action, state),
                                      static_cast<std::size_t>(num_observations_));
  }
  /// Indices are trusted; at() checks them.
  [[nodiscard]] double operator()(Action action, State state, Observation observation) const {
    return values_[offset(action, state) + static_cast<std::size_t>(observation)];
  }
  [[nodiscard]] double at(Action action, State state, Observation observation) const;
  /// The first action whose sensor is not that of action 0; none: all actions have one sensor.
  [[nodiscard]] std::optional<Action> action_that_differs() const;

  friend bool operator==(const ObservationModel&, const ObservationModel&) = default;

 private:
  [[nodiscard]] std::size_t offset(Action action, State state) const {
    return (static_cast<std::size_t>(action) * static_cast<std::size_t>(num_states_) +
            static_cast<std::size_t>(state)) *
           static_cast<std::size_t>(num_observations_);
  }

  void require_row(Action action, State state) const {
    if (static_cast<std::uint32_t>(action) >= static_cast<std::uint32_t>(num_actions_) ||
        static_cast<std::uint32_t>(state) >= static_cast<std::uint32_t>(num_states_)) [[unlikely]]
      refuse_row(action, state);
  }
  [[noreturn]] void refuse_row(Action action, State state) const;

  int num_states_ = 0;
  int num_actions_ = 0;
  int num_observations_ = 0;
  std::vector<double> values_;
};

}  // namespace oas
