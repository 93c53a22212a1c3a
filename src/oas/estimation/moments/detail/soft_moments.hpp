#pragma once

#include <vector>

#include "oas/counts/soft_pairs.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/row_block.hpp"
#include "oas/sensors/soft_features.hpp"

namespace oas::detail {

/// The soft moments of rows with likelihoods: pairs of soft features, and the rows themselves where
/// the mean matrices must be learned from them.
class SoftMoments {
 public:
  /// Features of at most `memory_limit` bytes are kept to learn mean matrices from.
  SoftMoments(const ContinuousPomdp& model, const FoldOptions& fold, std::size_t memory_limit,
              std::int64_t first_run = 0);

  /// Whether A S is small enough.
  [[nodiscard]] static bool fits(const ContinuousPomdp& model);

  /// The mean matrices are those of whole readings: here and in add() a reading that lacks a
  /// component counts as missing.
  void start_run(const RunStart& start = {}) { folder_.start_run(start.with_whole_reading()); }
  /// Rows of one run; likelihoods without readings are taken for a log's own.
  void add(const RowBlock& rows);
  /// Those of the runs that follow.
  void merge(const SoftMoments& other);

  /// A finite model with the mean matrices for sensors: what estimates are judged by.
  [[nodiscard]] Pomdp soft_model() const;
  /// Of the rows so far.
  [[nodiscard]] MomentSeries series(const LeftInverses& inverses) const;
  [[nodiscard]] const SoftSample& sample() const { return sample_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  void leave_out_partly_seen(RowBlock& rows);

  ContinuousPomdp model_;
  SoftFolder folder_;
  SoftSample sample_;
  std::vector<double> features_;
  std::vector<Observation> seen_;
};

}  // namespace oas::detail
