#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

/// What a first reading of a log tells about the weights of its pairs.
class ObservationMarginals {
 public:
  /// `first_run` as for PairFolder: parts that begin with any run can be merged in their order, to
  /// the bit.
  /// `first_readings`: those of runs are counted too, as if they came with one more action.
  ObservationMarginals(int num_actions, int num_observations, std::int64_t first_run = 0,
                       bool first_readings = false);

  void start_run(const RunStart& start = {});
  /// Rows of a run; `propensities` may be empty.
  void add(std::span<const Action> actions, std::span<const Observation> observations,
           std::span<const double> propensities);
  /// So many rows at once that are alike; propensity 0: none is known.
  void add(Action action, Observation observation, std::int64_t times, double propensity);
  /// Those of the runs that follow.
  void merge(const ObservationMarginals& other);

  [[nodiscard]] int num_observations() const { return num_observations_; }
  /// [a][o], then those of first readings
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }
  /// [a][o]: Σ 1/π² over rows with a propensity.
  [[nodiscard]] std::vector<double> inverse_squares() const;
  /// Rows with an observation; whether all of them have propensities, and some are 1.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] bool all_have_propensities() const { return with_propensity_ == rows_; }
  [[nodiscard]] std::int64_t certain() const { return certain_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  struct Squares {
    void add(const Squares& other);
    void save(ByteWriter& out) const { out.put_all(values); }
    void load(ByteReader& in) { values = in.get_all<double>(values.size()); }
    std::vector<double> values;  // [a][o]
  };
  void end_run();

  int num_actions_;
  int num_observations_;
  std::vector<std::int64_t> counts_;
  Squares run_;                 // Σ 1/π² of the current run
  std::int64_t run_rows_ = 0;   // and its rows
  BatchSeries<Squares> ended_;  // those of the runs before
  std::int64_t rows_ = 0;
  std::int64_t with_propensity_ = 0;
  std::int64_t certain_ = 0;
};

/// How the moments of `oas-weighted` are summed: left inverses and weights of pairs.
struct WeightedPairs {
  LeftInverses inverses;
  FoldOptions fold;
  std::string note;  ///< one line for people: which weights, and why
};

/// The weights of least variance that leave the moments consistent.
///
/// Left inverses weighted by 1/P̂(o|a), P̂ the log's own marginals (half a row added to each), in
/// both timings. With u_a the mean of ‖L_a(:,o)‖², the noise that a reading under a brings in:
///
/// `before`. The second action a' was chosen knowing o_t, so pairs must not be selected or weighted
/// by it: E[1{a'} | o_t] varies with o_t, and D_a is no longer proportional to T_a. Divided by its
/// propensity it may be: Σ_{a'} π(a'|h) · c_{a'}/π(a'|h) · e_s' = e_s' for every history h whenever
/// Σ c = 1. So pairs are weighted by c_{a'}/π(a_{t+1}|h), c_{a'} ∝ 1/v_{a'} with v_{a'} the mean of
/// ‖L_{a'}(:,o')‖²/π² over all rows, which minimises Σ c² v; a blind sensor has c = 0. Where the
/// plain sum (c_{a'} = π(a'|h), no propensities) has less noise, it is taken, if no sensor is
/// blind.
/// `after`. The first action was chosen before anything was seen of the two states, so any weights
/// by it are right: 1/u, 0 for blind sensors; and 1/π of the second row as always.
/// If actions ignore observations (`reacts` false) weights by either action need no propensities.
///
/// The rows of T_a of an action whose own sensor is blind cannot be learned from pairs: they come
/// out empty. Throws InvalidArgument that explains itself when a sensor is blind in `before` timing
/// and the log has no propensities, or only ones of 1, and when no sensor sees. O(A O S²).
[[nodiscard]] WeightedPairs weighted_pairs(const Pomdp& model,
                                           const ObservationMarginals& marginals, bool reacts);

}  // namespace oas
