#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/counts/pair_moments.hpp"
#include "oas/model/row_block.hpp"
#include "oas/model/timing.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

/// PairCounts for soft observations: a row does not show one of finitely many observations but a
/// vector φ of features, φ_i >= 0 and Σ φ_i = 1, and a pair adds w φ_t φ_{t+1}ᵀ to N_{a,a'} instead
/// of 1 to one entry. (A F)² doubles: add() in a fixed order to get the same bits.
struct SoftPairs {
  /// `first_readings`: pairs that begin with one are kept too, as if with one more first action.
  SoftPairs(int num_actions, int num_features, bool first_readings = false);

  void add(const SoftPairs& other);
  void clear();
  [[nodiscard]] std::int64_t total_pairs() const;
  void save(ByteWriter& out) const;
  /// Of the same sizes.
  void load(ByteReader& in);

  int num_actions;
  int num_features;
  int num_firsts;                   ///< actions in front, and first readings
  std::vector<double> sums;         ///< [a][a'][i][i']
  std::vector<double> squares;      ///< [a][a'][i]: Σ over i', were all weights squared
  std::vector<std::int64_t> pairs;  ///< [a][a']

  friend bool operator==(const SoftPairs&, const SoftPairs&) = default;
};

/// Sums to moments, as for PairCounts: D_a = Σ_{a'} L_a N_{a,a'} L_{a'}ᵀ, L_a a left inverse of the
/// mean matrix M_a(i,s) = E[φ_i | s, a].
[[nodiscard]] PairMoments project(const SoftPairs& sums, const LeftInverses& inverses,
                                  Timing timing);

/// φ_i = p(o | s_i, a) / Σ_j p(o | s_j, a) from the likelihoods of a row, in place.
void to_soft_features(std::span<double> likelihoods);

/// The left inverses that soft features come to where observations are finite: (Zᵀ W Z)⁻¹ Zᵀ W with
/// W = 1 / Σ_s Z(o|s). Throws as LeftInverses(model) does.
[[nodiscard]] LeftInverses soft_inverses(const Pomdp& model);

/// PairFolder for soft observations with one feature per state, φ as above. The mean matrices are
/// needed only at the end, so that they can be learned from the same rows.
class SoftFolder {
 public:
  /// A S may be at most this; beyond, the sums of all batches take too much memory.
  static constexpr int kMaxSymbols = 512;

  /// Only pairing and inverse_propensity of `options` matter. Throws InvalidArgument when A S is
  /// too large. `first_run` as for PairFolder; `first_readings`: those of runs are paired too.
  SoftFolder(int num_states, int num_actions, Timing timing, const FoldOptions& options,
             std::int64_t first_run = 0, bool first_readings = false);

  /// The next row, if any, belongs to a new run: no pair crosses. A first reading with a likelihood
  /// makes a pair with the first row, which counts unless the sensor turns out to be blind.
  void start_run(const RunStart& start = {});

  /// Rows in order, with likelihoods; a row whose observation is kMissing breaks pairs. Run starts
  /// of the block are not looked at.
  void add(const RowBlock& rows);

  /// Takes in a folder of the runs that follow; the next row starts a run.
  void merge(const SoftFolder& other);

  /// Ends the log; the folder is empty afterwards.
  [[nodiscard]] MomentSeries finish(const LeftInverses& inverses);

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  void add_pair(Action action, std::span<const double> features, double weight);
  void close_batch();
  void end_run();

  Timing timing_;
  FoldOptions options_;
  RowPairing pairing_;
  RowBooks books_;
  bool in_run_ = false;
  SoftPairs current_;
  bool any_ = false;            // there is something in it
  std::int64_t close_row_ = 0;  // row of the run at which it ends
  RunBatches<SoftPairs> run_;
  BatchSeries<SoftPairs> all_;
  std::vector<double> features_;  // of the row being added
  std::vector<double> previous_;  // of the row before
  Action previous_action_;
};

}  // namespace oas
