#include "oas/model/continuous_pomdp.hpp"

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

Pomdp with_finite_sensors(const Pomdp& chain, ObservationModel sensors,
                          std::optional<ObservationModel> first = {}) {
  PomdpParts parts = chain.parts();
  parts.observations = Labels(sensors.num_observations(), "observation");
  parts.sensors = std::move(sensors);
  parts.first_observation = std::move(first);
  parts.observation_counts.reset();
  if (parts.reward.kind() != Reward::Kind::by_action_state) parts.reward = {};
  return Pomdp(std::move(parts));
}

ObservationModel nothing_seen(const Pomdp& chain) {
  const auto size =
      static_cast<std::size_t>(chain.num_states()) * static_cast<std::size_t>(chain.num_actions());
  return {chain.num_states(), chain.num_actions(), 1, std::vector<double>(size, 1.0)};
}

// The densities of all actions, which must be the same.
DensitySensors common_density(const DensitySensors& sensors, const Labels& actions) {
  const std::optional<Action> other = sensors.action_that_differs();
  OAS_REQUIRE(!other,
              "rows are reading-first, and the densities of actions '{}' and '{}' differ: "
              "\"first_density\" must say how the first reading of a run comes about",
              actions[0], actions[*other]);
  std::vector<VectorDensity> densities;
  for (State s{0}; s < sensors.num_states(); ++s) densities.push_back(sensors(Action{0}, s));
  return {sensors.num_states(), 1, std::move(densities), "first_density"};
}

}  // namespace

ContinuousPomdp::ContinuousPomdp(const Pomdp& chain, std::optional<DensitySensors> sensors,
                                 std::optional<DensitySensors> first, DensityDraws draws)
    : chain_(with_finite_sensors(chain, nothing_seen(chain))),
      sensors_(std::move(sensors)),
      first_(std::move(first)),
      draws_(std::move(draws)) {
  OAS_REQUIRE(!sensors_ || (sensors_->num_states() == num_states() &&
                            sensors_->num_actions() == num_actions()),
              "density is {}x{} (actions, states) where the model has {} and {}",
              sensors_ ? sensors_->num_actions() : 0, sensors_ ? sensors_->num_states() : 0,
              num_actions(), num_states());
  for (const DensitySensors& draw : draws_.draws) {
    OAS_REQUIRE(sensors_ && draw.num_states() == num_states() &&
                    draw.num_actions() == num_actions() &&
                    draw.dimension() == sensors_->dimension(),
                "density_draws are not of the size of density");
  }
  if (chain_.reading_first() && sensors_ && !first_) {
    first_ = common_density(*sensors_, chain_.actions());
  }
  if (!first_) return;
  OAS_REQUIRE(
      timing() == Timing::after,
      "first_density is for rows that are reading-first, which timing `before` cannot have");
  OAS_REQUIRE(sensors_ && first_->num_actions() == 1 && first_->num_states() == num_states() &&
                  first_->dimension() == sensors_->dimension(),
              "first_density is of {} states and {} components, density of {} and {}",
              first_->num_states(), first_->dimension(), num_states(),
              sensors_ ? sensors_->dimension() : 0);
}

const DensitySensors& ContinuousPomdp::sensors() const {
  OAS_REQUIRE(sensors_.has_value(), "the model has no densities");
  return *sensors_;
}

bool ContinuousPomdp::first_is_common() const {
  return first_ && !sensors_->action_that_differs() &&
         *first_ == common_density(*sensors_, chain_.actions());
}

ContinuousPomdp ContinuousPomdp::with_transition(TransitionModel transition) const {
  return ContinuousPomdp(chain_.with_transition(std::move(transition)), sensors_, first_, draws_);
}

ContinuousPomdp ContinuousPomdp::with_draw(std::size_t index) const {
  OAS_REQUIRE(index < draws_.draws.size(), "draw {} of {}", index, draws_.draws.size());
  const DensitySensors& draw = draws_.draws[index];
  // A first reading that comes from the sensor of all actions does so in a draw of it, too.
  return ContinuousPomdp(chain_, draw,
                         first_is_common() ? std::optional<DensitySensors>() : first_);
}

ContinuousPomdp ContinuousPomdp::with_rows(Rows rows) const {
  return ContinuousPomdp(chain_.with_rows(rows), sensors_, first_, draws_);
}

Pomdp ContinuousPomdp::with_sensors(ObservationModel sensors,
                                    std::optional<ObservationModel> first) const {
  return with_finite_sensors(chain_, std::move(sensors), std::move(first));
}

std::string ContinuousPomdp::brief() const {
  const auto count = [](int n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, observations: {}, timing {}{}, transition {}",
                     count(num_states(), "state"), count(num_actions(), "action"),
                     sensors_ ? sensors_->brief() : "likelihoods in the log", to_string(timing()),
                     chain_.reading_first() ? ", reading first" : "",
                     chain_.has_transition() ? "known" : "unknown");
}

}  // namespace oas
