#pragma once

#include <nlohmann/json_fwd.hpp>

#include "oas/core/json_text.hpp"
#include "oas/counts/pair_counts.hpp"
#include "oas/counts/pair_moments.hpp"
#include "oas/counts/row_pairing.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

/// The moments of an agent's own rows, pair by pair as they come: what PairFolder does for logs,
/// without batches and with a state that can be saved at any row. An agent reacts and knows its
/// propensities, by which pairs are weighted where weights_by_propensity().
class OnlineMoments {
 public:
  OnlineMoments(const Pomdp& sensors, Pairing pairing);

  /// The next row of the run. One without observation (kMissing) is part of no pair. Throws
  /// InvalidArgument on an observation that does not exist, and has changed nothing then.
  void add(const Choice& choice, Observation observation);
  /// The next row does not follow the last one: no pair crosses.
  void start_run();
  /// Forgets all pairs; the next row starts a new pairing.
  void clear();

  /// OAS on the pairs so far; their number, the flagged rows and the estimate go into the record.
  [[nodiscard]] TransitionEstimate estimate(const Pomdp& sensors, Episode& episode) const;

  [[nodiscard]] const PairMoments& moments() const { return moments_; }
  [[nodiscard]] const LeftInverses& inverses() const { return inverses_; }

  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  [[nodiscard]] double largest_sum(std::int64_t pairs) const;

  LeftInverses inverses_;
  Timing timing_;
  RowPairing pairing_;
  PairMoments moments_;
  PairRow previous_{};
};

}  // namespace oas
