#pragma once

#include <nlohmann/json_fwd.hpp>
#include <utility>

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
  /// Where a run stands: which rows of it form pairs, and the row before.
  struct Place {
    RowPairing pairing;
    PairRow previous{};
  };

  OnlineMoments(const Pomdp& sensors, Pairing pairing);

  /// The next row of the run. One without observation (kMissing) is part of no pair. Throws
  /// InvalidArgument on an observation that does not exist, and has changed nothing then.
  void add(const Choice& choice, Observation observation) { add(choice, observation, place_); }
  /// The same for one of several runs whose rows come in turn; each has a place of its own.
  void add(const Choice& choice, Observation observation, Place& place);
  [[nodiscard]] Place new_place() const { return {RowPairing(pairing_)}; }
  /// The next row does not follow the last one: no pair crosses.
  void start_run();
  /// Forgets all pairs; the next row starts a new pairing.
  void clear();

  /// OAS on the pairs so far; their number, the flagged rows and the estimate go into the record.
  [[nodiscard]] TransitionEstimate estimate(const Pomdp& sensors, Episode& episode) const;

  [[nodiscard]] const PairMoments& moments() const { return moments_; }
  void set_moments(PairMoments moments) { moments_ = std::move(moments); }
  [[nodiscard]] const LeftInverses& inverses() const { return inverses_; }

  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  [[nodiscard]] double largest_sum(std::int64_t pairs) const;

  LeftInverses inverses_;
  Timing timing_;
  Pairing pairing_;
  PairMoments moments_;
  Place place_;
};

}  // namespace oas
