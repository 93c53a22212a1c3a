#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oas/counts/aged_batches.hpp"
#include "oas/counts/batches.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/counts/moment_series.hpp"
#include "oas/counts/pair_counts.hpp"
#include "oas/counts/pair_moments.hpp"
#include "oas/counts/row_pairing.hpp"
#include "oas/model/row_block.hpp"
#include "oas/model/timing.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

/// How PairFolder turns rows into pairs.
struct FoldOptions {
  Pairing pairing = Pairing::overlapping;
  /// Weight every pair by 1/π(a_t | history) of its second row; see weights_by_propensity().
  bool inverse_propensity = false;
  /// [a]: further factors of a pair's weight, by the action of its first and of its second row;
  /// empty: 1. Which of them leave the estimate consistent: counts/weighted_pairs.hpp.
  /// Behind those of the actions the factor of pairs that begin with a first reading, if there is.
  std::vector<double> first_weight{};
  std::vector<double> second_weight{};
  Forgetting forgetting{};  ///< see AgedBatches
  /// At most this many cells of (A O)² are counted exactly and projected batch by batch; beyond, or
  /// with weights, moments are summed pair by pair, which needs A S² numbers only.
  std::int64_t max_dense_cells = 1 << 16;
};

/// Folds rows into a MomentSeries in constant memory: feed blocks of rows in order, tell where runs
/// start, finish. The result does not depend on how rows are cut into blocks, nor on how runs are
/// dealt out to folders that are merged; see BatchSeries. No allocation per row.
class PairFolder {
 public:
  /// Keeps a reference to the inverses. `first_run`: the number of its first run among all; a
  /// folder can be merged into one that has seen the runs before.
  PairFolder(const LeftInverses& inverses, Timing timing, const FoldOptions& options,
             std::int64_t first_run = 0);

  /// The next row, if any, belongs to a new run: no pair crosses. A first reading makes a pair with
  /// the first row, unless its sensor is blind.
  void start_run(const RunStart& start = {});

  /// The rows to come go on in its first run, behind `rows` rows that another folder has seen, the
  /// last of them `before`. Before anything else, and only where cut_behind() allows it.
  void go_on(std::int64_t rows, PairRow before);
  /// The least number of rows, `rows` or more, behind which run `run` may be cut.
  [[nodiscard]] static std::int64_t cut_behind(Pairing pairing, std::int64_t run,
                                               std::int64_t rows);

  /// Rows in order; `propensities` may be empty unless options.inverse_propensity. Indices are
  /// trusted (log readers check them), missing observations break pairs.
  void add(std::span<const Action> actions, std::span<const Observation> observations,
           std::span<const double> propensities);
  /// The same run by run.
  void add(const RowBlock& block);

  /// Takes in a folder of the rows that follow, whose first run may go on in the last one here; the
  /// next row starts a run. Throws InvalidArgument with weights by age.
  void merge(const PairFolder& other);

  /// Ends the log and hands over the result; the folder is empty afterwards.
  [[nodiscard]] MomentSeries finish();
  /// The result so far.
  [[nodiscard]] MomentSeries so_far() const { return PairFolder(*this).finish(); }

  [[nodiscard]] const FoldOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t runs() const { return books_.runs; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  // A run that began elsewhere, once it has ended.
  struct Rest {
    RunBatches<PairMoments> batches;
    std::int64_t places = 0;
  };

  void end_run();
  void append_run(std::int64_t places);
  void take_open_run(const PairFolder& other);
  void open_batch();
  void close_batch();
  void count_pairs(std::span<const Action> actions, std::span<const Observation> observations);
  void sum_pairs(std::span<const Action> actions, std::span<const Observation> observations,
                 std::span<const double> propensities);

  const LeftInverses* inverses_;
  Timing timing_;
  FoldOptions options_;
  RowPairing pairing_;
  PairRow previous_{};
  RowBooks books_;
  bool in_run_ = false;
  bool goes_on_ = false;              // that run began elsewhere
  bool next_starts_ = false;          // the next row belongs to another run
  std::int64_t number_ = 0;           // of that run
  std::optional<PairCounts> counts_;  // dense form of the current batch
  bool dense_ = false;                // it is used
  PairMoments current_;               // streaming form
  bool any_ = false;                  // there is something in the current batch
  std::int64_t close_row_ = 0;        // row of the run at which it ends
  RunBatches<PairMoments> run_;
  std::optional<Rest> rest_;  // of the run that it went on with
  BatchSeries<PairMoments> all_;
  std::optional<AgedBatches> aged_;  // in place of these two, with forgetting
};

}  // namespace oas
