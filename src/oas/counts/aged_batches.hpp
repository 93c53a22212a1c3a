#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/counts/moment_series.hpp"

namespace oas {

/// Batches of moments whose rows count by their age, which is known only at the end of the run or
/// of the log: rows are summed over spans, a 16th of the half-life, a 128th of the window, at least
/// 64, or 16 by Age::run. By Age::log spans are batches, the latest ones only, to be weighted by
/// MomentSeries::forget(); by Age::run they are weighted when their run ends, and batches made of
/// them that have about the same weight. Rows in their order only: nothing can be merged.
class AgedBatches {
 public:
  AgedBatches(const Forgetting& forgetting, const PairMoments& empty);

  /// Where the pairs of the current span are added.
  [[nodiscard]] PairMoments& current() { return current_; }
  /// After each row.
  void end_row();
  void end_run(RunLengths& lengths);
  /// Hands over batches, spans and weights; empty afterwards.
  void finish(MomentSeries& series);

  void save(ByteWriter& out) const;
  void load(ByteReader& in);

 private:
  using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

  void close_span();
  void weigh_run();
  void close_weighted();
  void halve_batches();
  // What spans are part of and counted in: the log, or the run.
  [[nodiscard]] std::int64_t spanned_rows() const {
    return forgetting_.by_run() ? run_rows_ : rows_;
  }

  Forgetting forgetting_;
  std::int64_t span_rows_;
  PairMoments current_;
  std::vector<PairMoments> batches_;  // Age::log: spans; Age::run: batches
  std::vector<double> weights_;       // Age::run
  std::vector<PairMoments> run_;      // Age::run: the spans of the current run
  Spans spans_;                       // of the log, or of the run
  std::int64_t rows_ = 0;
  std::int64_t run_rows_ = 0;
  std::int64_t span_first_ = 0;  // first row of the current span
  PairMoments weighted_;         // Age::run: what the next batch has of runs that ended
  double weight_ = 0.0;          // of its rows
  double batch_weight_;          // at which it is closed
};

}  // namespace oas
