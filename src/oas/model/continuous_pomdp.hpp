#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/model/density_sensors.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// What is not known about densities that were fitted to labelled rows: random ones, as far as
/// these rows leave them open. A value.
struct DensityDraws {
  double labelled_rows = 0.0;
  std::vector<DensitySensors> draws;  ///< empty: the densities are known

  friend bool operator==(const DensityDraws&, const DensityDraws&) = default;
};

/// A partially observed Markov decision process whose observations are real numbers or vectors, or
/// whose sensors are somebody else's and come as likelihoods in the log: a hidden chain (timing,
/// states, actions, start, T, reward) and, where known, a density per (action, state). Checked
/// once, then immutable; a value. Whatever needs finite observations works on discretise() of it
/// (theory/cells.hpp).
class ContinuousPomdp {
 public:
  /// The sensors of `chain` are dropped, and so is a reward that depends on them. Throws
  /// InvalidArgument when sizes differ.
  /// Where rows are reading-first, `first` is the sensor of the first reading of a run, as that of
  /// one action; absent: that of all actions, which must then be the same.
  explicit ContinuousPomdp(const Pomdp& chain, std::optional<DensitySensors> sensors = {},
                           std::optional<DensitySensors> first = {}, DensityDraws draws = {});

  /// All but the sensors, as a model with one observation that is always the same.
  [[nodiscard]] const Pomdp& chain() const { return chain_; }
  [[nodiscard]] bool has_sensors() const { return sensors_.has_value(); }
  /// Throws InvalidArgument when the densities are unknown.
  [[nodiscard]] const DensitySensors& sensors() const;

  /// The densities of the first reading of a run as those of one action; there where the model has
  /// densities and rows are reading-first.
  [[nodiscard]] const std::optional<DensitySensors>& first_density() const { return first_; }
  /// Whether these are the densities that all actions have.
  [[nodiscard]] bool first_is_common() const;
  [[nodiscard]] const DensityDraws& density_draws() const { return draws_; }

  [[nodiscard]] int num_states() const { return chain_.num_states(); }
  [[nodiscard]] int num_actions() const { return chain_.num_actions(); }
  [[nodiscard]] Timing timing() const { return chain_.timing(); }

  [[nodiscard]] ContinuousPomdp with_transition(TransitionModel transition) const;
  /// The same model whose rows are written in this way. Throws as the constructor does.
  [[nodiscard]] ContinuousPomdp with_rows(Rows rows) const;
  /// With one of the draws for densities that are known. Throws InvalidArgument when there is none.
  [[nodiscard]] ContinuousPomdp with_draw(std::size_t index) const;
  /// The same chain with finite sensors; `first` as PomdpParts::first_observation.
  [[nodiscard]] Pomdp with_sensors(ObservationModel sensors,
                                   std::optional<ObservationModel> first = {}) const;

  /// One line for people.
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const ContinuousPomdp&, const ContinuousPomdp&) = default;

 private:
  Pomdp chain_;
  std::optional<DensitySensors> sensors_;
  std::optional<DensitySensors> first_;
  DensityDraws draws_;
};

}  // namespace oas
