#include "oas/model/pomdp.hpp"

#include <cmath>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kSameSensor = 1e-9;

void check_counts(const ObservationCounts& counts, const ObservationModel& sensors) {
  OAS_REQUIRE(counts.num_states() == sensors.num_states() &&
                  counts.num_actions() == sensors.num_actions() &&
                  counts.num_observations() == sensors.num_observations(),
              "observation_counts is {}x{}x{} (actions, states, observations) where the model has "
              "{}, {}, {}",
              counts.num_actions(), counts.num_states(), counts.num_observations(),
              sensors.num_actions(), sensors.num_states(), sensors.num_observations());
  if (!counts.shared()) return;
  const Eigen::MatrixXd first = sensors.matrix(Action{0});
  for (Action a{1}; a < sensors.num_actions(); ++a) {
    const double difference = (sensors.matrix(a) - first).cwiseAbs().maxCoeff();
    OAS_REQUIRE(difference <= kSameSensor,
                "observation_counts is one table for all actions, but the sensors of actions 0 and "
                "{} differ by {}",
                a.value(), difference);
  }
}

// The sensor of all actions, which must be the same.
ObservationModel common_sensor(const ObservationModel& sensors, const Labels& actions) {
  const std::optional<Action> other = sensors.action_that_differs();
  OAS_REQUIRE(!other,
              "rows are reading-first, and the sensors of actions '{}' and '{}' differ: "
              "\"first_observation\" must say how the first reading of a run comes about",
              actions[0], actions[*other]);
  const auto values = sensors.values().first(sensors.values().size() /
                                             static_cast<std::size_t>(sensors.num_actions()));
  return {sensors.num_states(), 1, sensors.num_observations(), {values.begin(), values.end()}};
}

void check_first(const PomdpParts& parts) {
  OAS_REQUIRE(parts.timing == Timing::after || parts.rows == Rows::action_first,
              "rows are reading-first, which is a way to write timing `after`; the model has "
              "timing `before`");
  if (!parts.first_observation) return;
  OAS_REQUIRE(parts.timing == Timing::after,
              "first_observation is for rows that are reading-first, which timing `before` cannot "
              "have");
  const ObservationModel& first = *parts.first_observation;
  OAS_REQUIRE(first.num_actions() == 1 && first.num_states() == parts.states.size() &&
                  first.num_observations() == parts.observations.size(),
              "first_observation is {}x{} (states, observations) where the model has {} and {}",
              first.num_states(), first.num_observations(), parts.states.size(),
              parts.observations.size());
}

}  // namespace

Pomdp::Pomdp(PomdpParts parts) : parts_(std::move(parts)) {
  const ObservationModel& sensors = parts_.sensors;
  OAS_REQUIRE(
      sensors.num_states() == num_states() && sensors.num_actions() == num_actions() &&
          sensors.num_observations() == num_observations(),
      "observation is {}x{}x{} (actions, states, observations) where the model has {}, {}, {}",
      sensors.num_actions(), sensors.num_states(), sensors.num_observations(), num_actions(),
      num_states(), num_observations());
  check_first(parts_);
  if (reading_first() && !parts_.first_observation) {
    parts_.first_observation = common_sensor(sensors, actions());
  }
  if (parts_.transition) {
    OAS_REQUIRE(parts_.transition->num_states() == num_states() &&
                    parts_.transition->num_actions() == num_actions(),
                "transition has {} actions and {} states where the model has {} and {}",
                parts_.transition->num_actions(), parts_.transition->num_states(), num_actions(),
                num_states());
  }
  if (parts_.start.empty()) {
    parts_.start.assign(static_cast<std::size_t>(num_states()), 1.0 / num_states());
  }
  OAS_REQUIRE(parts_.start.size() == static_cast<std::size_t>(num_states()),
              "start has {} entries for {} states", parts_.start.size(), num_states());
  check_simplex(parts_.start, "start");
  if (parts_.observation_counts) check_counts(*parts_.observation_counts, sensors);
  parts_.reward.check_size(num_states(), num_actions(), num_observations());
  OAS_REQUIRE(!parts_.discount || (*parts_.discount >= 0.0 && *parts_.discount <= 1.0),
              "discount is {}; it must lie in [0, 1]", parts_.discount.value_or(0.0));
}

const TransitionModel& Pomdp::transition() const {
  OAS_REQUIRE(parts_.transition.has_value(), "the model has no transition model");
  return *parts_.transition;
}

bool Pomdp::first_is_common() const {
  return first_observation() && !sensors().action_that_differs() &&
         first_observation()->matrix(Action{0}) == sensors().matrix(Action{0});
}

Pomdp Pomdp::with_transition(TransitionModel transition) const {
  PomdpParts parts = parts_;
  parts.transition = std::move(transition);
  return Pomdp(std::move(parts));
}

Pomdp Pomdp::without_transition() const {
  PomdpParts parts = parts_;
  parts.transition.reset();
  return Pomdp(std::move(parts));
}

Pomdp Pomdp::with_rows(Rows rows) const {
  PomdpParts parts = parts_;
  parts.rows = rows;
  return Pomdp(std::move(parts));
}

Matrix Pomdp::expected_reward() const {
  return oas::expected_reward(reward(), timing(), sensors(),
                              has_transition() ? &*parts_.transition : nullptr);
}

std::string Pomdp::brief() const {
  const auto count = [](int n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, {}, timing {}{}, transition {}", count(num_states(), "state"),
                     count(num_actions(), "action"), count(num_observations(), "observation"),
                     to_string(timing()), reading_first() ? ", reading first" : "",
                     has_transition() ? "known" : "unknown");
}

bool operator==(const Pomdp& a, const Pomdp& b) {
  const PomdpParts& x = a.parts_;
  const PomdpParts& y = b.parts_;
  return x.timing == y.timing && x.rows == y.rows && x.first_observation == y.first_observation &&
         x.states == y.states && x.actions == y.actions && x.observations == y.observations &&
         x.start == y.start && x.transition == y.transition && x.sensors == y.sensors &&
         x.reward == y.reward && x.discount == y.discount &&
         x.observation_counts == y.observation_counts;
}

}  // namespace oas
