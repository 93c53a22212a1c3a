#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oas/journal/journal_record.hpp"
#include "oas/learning/any_agent.hpp"
#include "oas/learning/split_agent.hpp"
#include "oas/live/detail/live_history.hpp"
#include "oas/live/detail/live_learner.hpp"
#include "oas/live/detail/live_request.hpp"
#include "oas/live/detail/live_snapshot.hpp"
#include "oas/live/detail/live_unit.hpp"
#include "oas/live/live_options.hpp"
#include "oas/live/live_warning.hpp"

namespace oas::detail {

/// All that calls change and the journal brings back: units, the plan in force, and what the
/// schedule of plans counts. A function of the records that were applied. Whoever calls sees to it
/// that records are in the journal first.
class LiveState {
 public:
  /// Throws InvalidArgument on an agent that cannot play the model.
  LiveState(LiveModel model, const LiveOptions& options);

  using Units = std::map<std::string, LiveUnit, std::less<>>;
  [[nodiscard]] const Units& units() const { return units_; }
  [[nodiscard]] const LiveUnit* find(const std::string& name) const;
  [[nodiscard]] std::int64_t active() const { return active_; }
  /// So many names of units that have ended are remembered; a fixed number, since the state is a
  /// function of the journal alone.
  static constexpr std::size_t kEndedNames = 65'536;

  [[nodiscard]] const Pomdp& model() const { return model_; }
  /// The agent is one for many units.
  [[nodiscard]] bool fleet() const { return !solo_; }
  [[nodiscard]] bool learns() const { return learner_settings_.has_value(); }
  [[nodiscard]] const LivePolicy* policy() const { return policy_.get(); }
  [[nodiscard]] std::shared_ptr<const LivePolicy> shared_policy() const { return policy_; }
  /// With the transition that the agent may not see.
  [[nodiscard]] const LiveModel& full_model() const { return full_model_; }
  /// Of those that were learned; null: none yet.
  [[nodiscard]] const LivePlan* last_plan() const {
    return learns() && policy_ ? &policy_->plan() : nullptr;
  }
  /// Null: nothing is watched.
  [[nodiscard]] const LiveDetector* detector() const { return detector_ ? &*detector_ : nullptr; }
  [[nodiscard]] std::int64_t forgotten() const { return forgotten_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Rows without observation, and those that could not be under the plan of their time.
  [[nodiscard]] std::int64_t missing() const { return missing_; }
  [[nodiscard]] std::int64_t impossible() const { return impossible_; }
  [[nodiscard]] const LiveHistory& history() const { return history_; }
  [[nodiscard]] std::int64_t plans() const { return plans_; }
  [[nodiscard]] const std::vector<std::int64_t>& plays() const { return plays_; }
  /// A new plan is to be made from the rows so far.
  [[nodiscard]] bool plan_due() const { return learns() && rows_ >= plan_due_; }
  [[nodiscard]] bool plan_due_after_row() const { return learns() && rows_ + 1 >= plan_due_; }
  [[nodiscard]] std::int64_t next_plan_at() const { return plan_due_; }

  /// Of a unit whose run goes on, under the plan in force, though its own belief may be from before
  /// that plan; empty where there is no plan.
  [[nodiscard]] std::vector<double> belief_now(const LiveUnit& unit) const;

  /// The record that begins a run of the unit.
  [[nodiscard]] JournalRecord begin_record(const std::string& name) const;
  /// The unit as it will be once that record is applied.
  [[nodiscard]] LiveUnit begun(const JournalRecord& record) const;
  /// The row as it will be journalled: with the action that the agent chose, where nobody else did.
  /// Throws InvalidArgument on what cannot be, or cannot be used.
  [[nodiscard]] JournalRow completed(const LiveUnit& unit, JournalRow row) const;
  /// The action for the unit's step, drawn; not yet the agent's. With a row: for the step after.
  [[nodiscard]] Choice choose(const LiveUnit& unit, const JournalRow* row);

  /// What the record says is so from now on. With `check` what it says is computed again, and
  /// InvalidArgument thrown where it differs. Rows go to `fed`, for the learner.
  void apply(const JournalRecord& record, bool check, std::vector<LearnerRow>& fed);

  /// The rows that the plan of a record was made from.
  [[nodiscard]] std::int64_t rows_of_plan(const JournalRecord& record) const;
  /// What a user should know now. O(A S) whatever the number of units.
  [[nodiscard]] std::vector<LiveWarning> warnings() const;
  /// Makes the plan of the record again, by a learner that was fed these rows. Throws
  /// InvalidArgument where it comes out otherwise.
  void check_plan(const JournalRecord& record, LiveLearner& learner) const;

  /// The same agent before it has seen anything.
  [[nodiscard]] LiveState fresh() const { return {full_model_, options_}; }
  void save(ByteWriter& out) const;
  /// Into one that is fresh. Throws InvalidArgument.
  void load(ByteReader& saved);
  /// The same while calls go on between: what is saved is the state as it is now. Then
  /// save_some_units(), again and again, until it says that it has all.
  void begin_save();
  [[nodiscard]] bool save_some_units();
  [[nodiscard]] std::unique_ptr<LiveSnapshot> take_saved() { return std::move(saving_); }

 private:
  [[nodiscard]] LiveSnapshot snapshot_of_rest() const;
  void save_before_change(LiveUnit& unit);
  void load_units(ByteReader& in);
  [[nodiscard]] LiveUnit& unit_of(std::uint64_t run);
  [[nodiscard]] Choice drawn(const LiveUnit& unit, std::int64_t step,
                             std::span<const double> belief, const JournalRow* row);
  void count_play(std::vector<double>& plays, Action action) const;
  [[nodiscard]] std::optional<Action> overdue(const JournalRow* row) const;
  // Rows of full weight that so many since the last change are worth.
  [[nodiscard]] std::int64_t worth(std::int64_t rows) const;
  void check_half_life() const;
  void begin(const JournalRecord& record);
  void act(LiveUnit& unit, const JournalRecord& record, bool check);
  void observe(LiveUnit& unit, const JournalRow& row, const SeenRow& seen);
  void watch(LiveUnit& unit, const SeenRow& row);
  void move_belief(LiveUnit& unit, const SeenRow& row);
  void play_under_plan_in_force(LiveUnit& unit);
  void warn_of_actions(std::vector<LiveWarning>& all) const;
  void warn_of_rows(std::vector<LiveWarning>& all) const;
  void warn_of_plan(std::vector<LiveWarning>& all) const;
  void forget_names();
  void begin_with(LiveUnit& unit, const JournalRow& row, const SeenRow& seen);
  void forget();
  void end(LiveUnit& unit);
  void adopt(LivePlan plan);
  [[nodiscard]] LivePlan plan_of(const JournalRecord& record) const;

  LiveModel full_model_;
  LiveOptions options_;
  Pomdp model_;  // as the agent sees it
  std::optional<AnyAgent> solo_;
  std::optional<Choice> solo_choice_;              // drawn, not yet journalled
  std::optional<PooledLearner> learner_settings_;  // schedule; has no rows
  std::optional<BeliefGrid> grid_;
  double floor_ = 0.0;
  std::shared_ptr<LivePolicy> policy_;
  std::optional<LiveDetector> detector_;
  Units units_;
  std::map<std::uint64_t, LiveUnit*> runs_;     // that have not ended
  std::map<std::uint64_t, std::string> ended_;  // units, in the order of their ends
  std::int64_t names_forgotten_ = 0;
  std::uint64_t runs_begun_ = 0;
  std::int64_t active_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t missing_ = 0;           // of these
  std::int64_t impossible_ = 0;        // of these
  std::int64_t last_impossible_ = -1;  // row; -1: none
  std::int64_t plans_ = 0;
  std::int64_t plan_due_ = 0;   // rows
  std::int64_t forgotten_ = 0;  // the first rows, when the dynamics changed
  std::vector<std::int64_t> plays_;
  std::vector<double> recent_plays_;  // the same, fading; empty: rows do not fade
  LiveHistory history_;
  std::unique_ptr<LiveSnapshot> saving_;  // null: none is being taken
  std::string saved_up_to_;               // name of a unit; empty: none yet
  std::uint64_t saves_ = 0;               // begun
};

}  // namespace oas::detail
