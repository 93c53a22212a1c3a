#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oas/counts/forgetting.hpp"
#include "oas/counts/left_inverse.hpp"
#include "oas/counts/pair_counts.hpp"
#include "oas/counts/pair_moments.hpp"
#include "oas/model/timing.hpp"

namespace oas {

/// The moments of a log, cut into consecutive batches, and what was met on the way. The spread of
/// the batches is what error bars are made of: neighbouring pairs depend on each other, batches
/// hardly. Parts of a log (files) are appended in their order.
struct MomentSeries {
  std::vector<PairMoments> batches;
  /// With forgetting by Age::log, the rows [first, end) of each batch, counted from the start of
  /// the log.
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  /// Of each batch, up to a common factor: by Age::log after forget(), by Age::run the sum over its
  /// rows; empty: 1.
  std::vector<double> weights;
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  RunLengths run_lengths;
  std::int64_t missing = 0;          ///< rows without observation
  std::int64_t certain_actions = 0;  ///< rows whose propensity is 1
  double smallest_propensity = 1.0;

  /// Sum over all batches, in order.
  [[nodiscard]] PairMoments total() const;
  /// (Σw)²/Σw²: how many batches of equal weight these are worth.
  [[nodiscard]] double effective_batches() const;
  void append(MomentSeries other);
  /// Weights each batch by the mean weight of its rows, now that their age is known; those without
  /// any are dropped. By Age::run this has been done at the end of each run. Once, after the last
  /// append(). Throws InvalidArgument when there are several runs and Age is unsaid.
  void forget(const Forgetting& forgetting);
};

/// How PairFolder turns rows into pairs.
struct FoldOptions {
  Pairing pairing = Pairing::overlapping;
  /// Weight every pair by 1/π(a_t | history) of its second row; `after` timing with a policy that
  /// reacts to observations needs this.
  bool inverse_propensity = false;
  /// [a]: further factors of a pair's weight, by the action of its first and of its second row;
  /// empty: 1. Which of them leave the estimate consistent: counts/weighted_pairs.hpp.
  std::vector<double> first_weight{};
  std::vector<double> second_weight{};
  /// Pairs are weighted by the mean weight of spans of rows: a 16th of the half-life, a 128th of
  /// the window, at least 64, or 16 by Age::run. By Age::log spans are batches, the latest ones
  /// only, to be weighted by MomentSeries::forget(); by Age::run they are weighted when their run
  /// ends, and batches made of them that have about the same weight.
  Forgetting forgetting{};
  /// At most this many cells of (A O)² are counted exactly and projected batch by batch; beyond, or
  /// with weights, moments are summed pair by pair, which needs A S² numbers only.
  std::int64_t max_dense_cells = 1 << 16;
};

/// Folds rows into a MomentSeries in constant memory: feed blocks of rows in order, tell where runs
/// start, finish. The result does not depend on how rows are cut into blocks. No allocation per
/// row.
class PairFolder {
 public:
  PairFolder(const LeftInverses& inverses, Timing timing, const FoldOptions& options);

  /// The next row, if any, belongs to a new run: no pair crosses.
  void start_run();

  /// Rows in order; `propensities` may be empty unless options.inverse_propensity. Indices are
  /// trusted (log readers check them), missing observations break pairs.
  void add(std::span<const Action> actions, std::span<const Observation> observations,
           std::span<const double> propensities);

  /// Ends the log and hands over the result; the folder is empty afterwards.
  [[nodiscard]] MomentSeries finish();

 private:
  void add_pair(PairRow first, PairRow second, double weight);
  void close_batch();
  void close_span();
  void halve_batches();
  void end_run();
  void weigh_run();
  void close_weighted();
  // What spans are part of and counted in: the log, or the run.
  [[nodiscard]] MomentSeries& spanned() { return options_.forgetting.by_run() ? run_ : series_; }
  [[nodiscard]] std::int64_t spanned_rows() const {
    return options_.forgetting.by_run() ? run_rows_ : series_.rows;
  }

  const LeftInverses* inverses_;
  Timing timing_;
  FoldOptions options_;
  std::optional<PairCounts> counts_;  // dense form: the current batch
  PairMoments current_;               // streaming form: the current batch
  MomentSeries series_;
  std::int64_t batch_pairs_;  // pairs per batch
  std::int64_t pairs_in_batch_ = 0;
  std::int64_t batch_rows_ = 0;      // with forgetting: rows per span
  std::int64_t span_first_ = 0;      // and the first row of the current one
  std::int64_t run_rows_ = 0;        // of the current run
  MomentSeries run_;                 // Age::run: the spans of the current run
  PairMoments weighted_;             // and what the next batch has of runs that ended
  double weight_ = 0.0;              // of its rows
  double batch_weight_;              // at which it is closed
  std::optional<PairRow> previous_;  // last row of this run, if it can start a pair
  bool first_of_pair_ = true;        // disjoint: the next row is the first of a pair
};

}  // namespace oas
