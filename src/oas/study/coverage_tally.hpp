#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/transition_model.hpp"
#include "oas/study/coverage_reference.hpp"

namespace oas {

/// How often the truth was where it was said to be.
struct HitCount {
  std::int64_t trials = 0;
  std::int64_t hits = 0;
};

/// Mean over logs of a share, and its square, so that parts can be added up.
struct ShareSum {
  std::int64_t logs = 0;
  double sum = 0.0;
  double squares = 0.0;
  void add(double share);
};

/// Counts, over estimates from many logs of one known model, what error bars promise and hold.
/// Intervals and regions are judged in rows that the estimate does not flag, flags in rows that are
/// clearly determined or clearly not (CoverageReference::classify).
class CoverageTally {
 public:
  struct Entry {
    HitCount interval;
    std::vector<double> widths;       ///< of its interval, log by log
    std::vector<double> seen_widths;  ///< Clopper-Pearson's, had the states been seen
  };
  struct Row {
    HitCount band;
    HitCount ball;             ///< in L1
    std::int64_t flagged = 0;  ///< logs
    std::int64_t determined = 0;
    std::int64_t undetermined = 0;
    std::int64_t wrongly_flagged = 0;    ///< determined, yet flagged
    std::int64_t wrongly_unflagged = 0;  ///< undetermined, yet not flagged
  };

  CoverageTally(TransitionModel truth, CoverageReference reference);

  /// An estimate, and what happened in its log. One whose limits are no numbers, or lie the wrong
  /// way round, counts as a failure; one without error bars only for its flags.
  void add(const TransitionEstimate& estimate, const LogFacts& facts);
  /// An estimate that ended in an exception.
  void add_failure(const std::string& message);

  [[nodiscard]] const TransitionModel& truth() const { return truth_; }
  [[nodiscard]] const CoverageReference& reference() const { return reference_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }  ///< [a][s][s']
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }          ///< [a][s]
  [[nodiscard]] const HitCount& joint_band() const { return joint_band_; }
  [[nodiscard]] const HitCount& joint_ball() const { return joint_ball_; }
  /// Of entries in their intervals and rows in their bands, in each log.
  [[nodiscard]] const ShareSum& entry_share() const { return entry_share_; }
  [[nodiscard]] const ShareSum& row_share() const { return row_share_; }
  [[nodiscard]] std::int64_t logs() const { return logs_; }
  [[nodiscard]] std::int64_t without_bars() const { return without_bars_; }
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  [[nodiscard]] const std::string& first_failure() const { return first_failure_; }

 private:
  void judge_flags(const std::vector<char>& flagged, const LogFacts& facts);
  void judge_intervals(const TransitionEstimate& estimate, const std::vector<char>& flagged,
                       const LogFacts& facts);
  void judge_regions(const TransitionEstimate& estimate, const std::vector<char>& flagged);

  TransitionModel truth_;
  CoverageReference reference_;
  std::size_t num_states_;
  std::vector<Entry> entries_;
  std::vector<Row> rows_;
  HitCount joint_band_;
  HitCount joint_ball_;
  ShareSum entry_share_;
  ShareSum row_share_;
  std::int64_t logs_ = 0;
  std::int64_t without_bars_ = 0;
  std::int64_t failures_ = 0;
  std::string first_failure_;
};

}  // namespace oas
