#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/live/detail/row_filter.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// Whether what units show is what the dynamics lead to that are held to be true. Before each row
/// the probabilities p of its observations are known, given all rows before. A rival q is p times,
/// for each observation, how much more often than expected it came lately after the same action and
/// the same observation before. Of the statistic
///   R ← (1 + R) q(o)/p(o),
/// Shiryaev's and Roberts's with a rival that learns, the mean after n rows is n where p is right,
/// whatever the rival: it reaches N once in N rows on average, or more rarely. That is the alarm.
/// Estimates are not exact: of n rows with d free entries they lose X/(2n) in the mean of each
/// row's logarithm, X about chi-square with d degrees of freedom. So after m rows the alarm is at
/// N exp(m x/(2n)) with x a quantile of X, and each new estimate starts R again. O(S O + S²) per
/// row.
class LiveDetector {
 public:
  /// What is kept of a unit.
  struct Watch {
    std::vector<double> belief;     ///< under the dynamics held to be true; empty: anew
    Observation before = kMissing;  ///< the observation of the row before
  };

  /// `sensors` without transition.
  LiveDetector(const Pomdp& sensors, double steps_per_false_alarm);

  /// These dynamics, estimated from so many rows, are held to be true from now on, and evidence is
  /// counted anew; 0: they are known. Too few rows: nothing is held to be true.
  void hold_true(const TransitionModel& transition, std::int64_t rows = 0);
  /// Nothing is held to be true.
  void suspend();
  [[nodiscard]] bool active() const { return filter_.has_value(); }
  /// To compute a Watch::belief with.
  [[nodiscard]] RowFilter& filter() { return *filter_; }

  /// One row of a unit whose belief is there, at row `number` of all. What brings likelihoods
  /// without an observation is believed, not tested.
  void see(Watch& watch, const SeenRow& row, std::int64_t number);

  /// R, and whether it has reached the alarm since the last hold_true().
  [[nodiscard]] double evidence() const { return evidence_; }
  [[nodiscard]] bool alarmed() const { return alarmed_; }
  [[nodiscard]] std::int64_t alarms() const { return alarms_; }
  [[nodiscard]] std::int64_t last_alarm() const { return last_alarm_; }  ///< row; -1: none

  void save(ByteWriter& out) const;
  /// After hold_true() of the dynamics of the time, where it was active.
  void load(ByteReader& in);

 private:
  void predict(std::span<const double> belief, Action action);
  [[nodiscard]] std::size_t context(const Watch& watch, Action action) const;
  void test(std::size_t context, Observation observation, std::int64_t row);

  Pomdp sensors_;
  double threshold_;
  std::optional<TransitionModel> transition_;
  std::optional<RowFilter> filter_;
  bool by_last_;                  // contexts tell observations before apart
  std::vector<double> observed_;  // [context][o], fading
  std::vector<double> expected_;
  std::vector<double> predicted_;  // [o]
  std::vector<double> moved_;      // [s]
  double allowance_ = 0.0;  // per row: what the logarithm of R may gain by the estimate's error
  std::int64_t tested_ = 0;
  double evidence_ = 0.0;
  bool alarmed_ = false;
  std::int64_t alarms_ = 0;
  std::int64_t last_alarm_ = -1;
};

}  // namespace oas::detail
