#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/live/detail/belief_window.hpp"
#include "oas/live/detail/live_detector.hpp"
#include "oas/live/detail/live_plan.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/planning/look_ahead.hpp"

namespace oas::detail {

/// What is known of one unit: where its run stands, and what is believed about it.
struct LiveUnit {
  std::string name;
  std::uint64_t run = 0;  ///< number of its run among all
  std::uint64_t draws =
      0;  ///< enters its draws: other ones than those of a namesake that was forgotten
  std::int64_t runs = 0;  ///< that it has begun
  bool ended = false;     ///< its run has, and no other has begun
  std::uint64_t end = 0;  ///< number of that end among all
  std::int64_t step = 0;  ///< the next to be acted and observed; -1: a first reading is due
  bool acted = false;     ///< `choice` is the action of `step`
  Choice choice;
  double reward = 0.0;        ///< that is expected of it, as it was told
  std::uint64_t content = 0;  ///< of the last row; see content_of
  bool has_row = false;       ///< there is a last row, of step - 1
  SeenRow first;              ///< its first reading
  BeliefWindow window;        ///< of units that teach; for beliefs under new plans
  std::int64_t plan = -1;     ///< under which `belief` is; -1: none
  double drift = 0.0;         ///< of that plan, see LivePolicy::drift()
  std::vector<double> belief;
  LiveDetector::Watch watch;
  std::int64_t watch_plan = -1;  ///< whose estimate the watch is under; -1: none
  std::int64_t rows = 0;         ///< of all its runs
  std::int64_t missing = 0;      ///< of these
  std::int64_t impossible = 0;   ///< of these, under the plan of the time
  std::uint64_t saving = 0;      ///< the last LiveState::begin_save() that has it, or need not

  void save(ByteWriter& out) const;
  /// Throws InvalidArgument on what cannot be.
  [[nodiscard]] static LiveUnit loaded(ByteReader& in, int num_states);
};

/// How units are played under one plan. Work space inside: one call at a time.
class LivePolicy {
 public:
  /// Share of uniform in a belief by dynamics that have nothing in common with those in force.
  static constexpr double kDoubt = 1e-3;

  /// `sensors` without transition.
  LivePolicy(const Pomdp& sensors, const BeliefGrid& grid, LivePlan plan, double floor,
             double drift = 0.0);

  [[nodiscard]] const LivePlan& plan() const { return plan_; }
  /// LivePlan::distance() from each plan to the next, added up since the first. A belief from
  /// another plan is doubted as much as their drifts are apart: not at all where nothing has
  /// changed, however many plans there were. That is no bound of the distance between the two, to
  /// which each plan gives weights of its own: what counts is how far dynamics have moved where
  /// units had been by then.
  [[nodiscard]] double drift() const { return drift_; }
  /// Of a belief by what is played, under the estimate.
  [[nodiscard]] double doubt_of_estimate() const { return estimate_doubt_; }

  /// The belief of a unit that was played under another plan before, or under none.
  [[nodiscard]] std::vector<double> belief_of(const LiveUnit& unit);
  /// The unit has that belief from now on, and is played under this plan.
  void take_over(LiveUnit& unit);
  struct Moved {
    std::vector<double> belief;
    double probability = 1.0;  ///< of what was seen, up to the factor of likelihoods
  };
  [[nodiscard]] Moved moved(std::span<const double> belief, const SeenRow& row);
  [[nodiscard]] int greedy(std::span<const double> belief) { return look_ahead_.greedy(belief); }
  /// g(b, a)
  [[nodiscard]] double expected_reward(std::span<const double> belief, Action action) const;
  [[nodiscard]] double floor() const { return floor_; }

 private:
  [[nodiscard]] double doubt_of(const LiveUnit& unit) const;

  LivePlan plan_;
  double floor_;
  double drift_;
  double estimate_doubt_;
  LookAhead look_ahead_;
  RowFilter filter_;
  Matrix rewards_;  // A×S
};

}  // namespace oas::detail
