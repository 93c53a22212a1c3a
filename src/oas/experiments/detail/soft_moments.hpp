#pragma once

#include <span>
#include <vector>

#include "oas/counts/soft_pairs.hpp"
#include "oas/io/log_reader.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/theory/soft_features.hpp"

namespace oas::detail {

/// The soft moments of rows with likelihoods: pairs of soft features, and the rows themselves where
/// the mean matrices must be learned from them.
class SoftMoments {
 public:
  /// Keeps a reference to the model.
  SoftMoments(const ContinuousPomdp& model, const FoldOptions& fold, std::size_t memory_limit);

  /// Whether A S is small enough.
  [[nodiscard]] static bool fits(const ContinuousPomdp& model);

  /// Rows of one or more runs; likelihoods without readings are taken for a log's own.
  void add(const LogBlock& block, std::span<const double> propensities);

  /// A finite model with the mean matrices for sensors: what estimates are judged by.
  [[nodiscard]] Pomdp soft_model() const;
  /// Ends the rows.
  [[nodiscard]] MomentSeries finish(const LeftInverses& inverses);
  [[nodiscard]] const SoftSample& sample() const { return sample_; }

 private:
  void sample_rows(const LogBlock& block);

  const ContinuousPomdp& model_;
  SoftFolder folder_;
  SoftSample sample_;
  std::vector<double> features_;
};

}  // namespace oas::detail
