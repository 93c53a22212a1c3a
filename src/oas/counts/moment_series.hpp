#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/counts/pair_moments.hpp"

namespace oas {

/// What was met on the way through the rows of a log.
struct RowBooks {
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  RunLengths run_lengths;            ///< only with forgetting
  std::int64_t missing = 0;          ///< rows without observation
  std::int64_t certain_actions = 0;  ///< rows whose propensity is 1
  double smallest_propensity = 1.0;

  /// Rows of a run; propensities may be empty.
  void enter(std::span<const Observation> observations, std::span<const double> propensities);
  void append(const RowBooks& other);
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
};

/// The moments of a log, cut into consecutive batches, and what was met on the way. The spread of
/// the batches is what error bars are made of: neighbouring pairs depend on each other, batches
/// hardly.
struct MomentSeries : RowBooks {
  std::vector<PairMoments> batches;
  /// With forgetting by Age::log, the rows [first, end) of each batch, counted from the start of
  /// the log.
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  /// Of each batch, up to a common factor: by Age::log after forget(), by Age::run the sum over its
  /// rows; empty: 1.
  std::vector<double> weights;

  /// Sum over all batches, in order.
  [[nodiscard]] PairMoments total() const;
  /// (Σw)²/Σw²: how many batches of equal weight these are worth.
  [[nodiscard]] double effective_batches() const;
  /// The batches of another log of the same kind, beside these.
  void append(MomentSeries other);
  /// Weights each batch by the mean weight of its rows, now that their age is known; those without
  /// any are dropped. By Age::run this has been done at the end of each run. Once, after the last
  /// append().
  /// Throws InvalidArgument when there are several runs and Age is unsaid.
  void forget(const Forgetting& forgetting);
};

}  // namespace oas
