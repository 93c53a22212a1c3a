#include "oas/model/continuous_pomdp.hpp"

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

Pomdp with_finite_sensors(const Pomdp& chain, ObservationModel sensors) {
  PomdpParts parts = chain.parts();
  parts.observations = Labels(sensors.num_observations(), "observation");
  parts.sensors = std::move(sensors);
  parts.observation_counts.reset();
  if (parts.reward.kind() != Reward::Kind::by_action_state) parts.reward = {};
  return Pomdp(std::move(parts));
}

ObservationModel nothing_seen(const Pomdp& chain) {
  const auto size =
      static_cast<std::size_t>(chain.num_states()) * static_cast<std::size_t>(chain.num_actions());
  return {chain.num_states(), chain.num_actions(), 1, std::vector<double>(size, 1.0)};
}

}  // namespace

ContinuousPomdp::ContinuousPomdp(const Pomdp& chain, std::optional<DensitySensors> sensors,
                                 DensityDraws draws)
    : chain_(with_finite_sensors(chain, nothing_seen(chain))),
      sensors_(std::move(sensors)),
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
}

const DensitySensors& ContinuousPomdp::sensors() const {
  OAS_REQUIRE(sensors_.has_value(), "the model has no densities");
  return *sensors_;
}

ContinuousPomdp ContinuousPomdp::with_transition(TransitionModel transition) const {
  return ContinuousPomdp(chain_.with_transition(std::move(transition)), sensors_, draws_);
}

ContinuousPomdp ContinuousPomdp::with_draw(std::size_t index) const {
  return ContinuousPomdp(chain_, draws_.draws[index]);
}

Pomdp ContinuousPomdp::with_sensors(ObservationModel sensors) const {
  return with_finite_sensors(chain_, std::move(sensors));
}

std::string ContinuousPomdp::brief() const {
  const auto count = [](int n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, observations: {}, timing {}, transition {}",
                     count(num_states(), "state"), count(num_actions(), "action"),
                     sensors_ ? sensors_->brief() : "likelihoods in the log", to_string(timing()),
                     chain_.has_transition() ? "known" : "unknown");
}

}  // namespace oas
