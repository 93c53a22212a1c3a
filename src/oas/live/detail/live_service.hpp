#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "oas/core/interruption.hpp"
#include "oas/live/detail/live_answers.hpp"
#include "oas/live/detail/live_request.hpp"
#include "oas/live/detail/live_state.hpp"
#include "oas/live/detail/live_store.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/model/any_model.hpp"

namespace oas::detail {

/// What a LiveAgent is: calls, the state they change under one lock, and two threads beside them,
/// of which one plans and takes snapshots, the other syncs the journal.
class LiveService {
 public:
  LiveService(AnyModel model, LiveOptions options);
  ~LiveService();
  LiveService(const LiveService&) = delete;
  LiveService& operator=(const LiveService&) = delete;

  [[nodiscard]] LiveReply call(std::string_view call, std::string_view body);
  [[nodiscard]] std::string metrics() const;
  /// What a user should know now.
  [[nodiscard]] std::vector<LiveWarning> warnings() const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return store_.notes(); }

 private:
  // What refuses a call, with its status.
  struct Refusal {
    int status;
    std::string reason;
  };

  // Takes the lock, more than once where there are many units.
  [[nodiscard]] Json answer(const LiveRequest& request);
  void add_units(LiveRequest request, Json& answer) const;
  // Calls; the lock is held.
  [[nodiscard]] Json dispatch(const LiveRequest& request);
  // What is left to do without the lock, where that may take long; empty: nothing.
  [[nodiscard]] std::function<Json()> question(const LiveRequest& request) const;
  [[nodiscard]] Json act(const LiveRequest& request);
  [[nodiscard]] Json observe(const LiveRequest& request);
  [[nodiscard]] Json step(const LiveRequest& request);
  [[nodiscard]] Json end(const LiveRequest& request);
  [[nodiscard]] Json status(const LiveRequest& request) const;
  [[nodiscard]] Json health();
  [[nodiscard]] Json snapshot();
  [[nodiscard]] std::vector<LiveWarning> warnings_now() const;
  [[nodiscard]] Json warning_texts() const;

  // The unit of a call about its run, with the record that begins it where it is to begin.
  struct Target {
    const LiveUnit* unit = nullptr;
    std::shared_ptr<const LiveUnit> begun;
    std::vector<JournalRecord> records;
  };
  [[nodiscard]] Target target_of(const LiveRequest& request) const;
  [[nodiscard]] const LiveUnit& known(const LiveRequest& request) const;
  [[noreturn]] static void out_of_order(const LiveUnit& unit, const LiveRequest& request);
  // Whether the row of the call is the last one that was taken; refuses another row in its place.
  [[nodiscard]] static bool repeats(const LiveUnit& unit, const LiveRequest& request);
  [[nodiscard]] JournalRecord row_record(const LiveUnit& unit, const LiveRequest& request) const;
  void take_action(Target target);
  void commit(std::span<const JournalRecord> records);
  void plan_within_the_call();
  void after_call();
  void forget_what_has_changed();

  // Beside the calls.
  void background();
  [[nodiscard]] bool has_work() const;
  void take_rows();
  void feed(std::int64_t rows);
  void make_plan(std::unique_lock<std::mutex>& lock);
  void put_in_force(std::unique_lock<std::mutex>& lock);
  void take_snapshot(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::string saved_state() const;
  // What went wrong; empty: nothing.
  [[nodiscard]] std::string store_snapshot(const JournalPlace& place, std::string_view state);
  [[nodiscard]] bool snapshot_due() const;
  void sync_now_and_then();
  void count(const std::string& call, int status) const;

  LiveOptions options_;
  LiveState state_;
  std::unique_ptr<LiveLearner> learner_;  // the background thread's, if there is one
  LiveStore store_;

  mutable std::mutex mutex_;
  std::vector<LearnerRow> pending_;        // for the learner
  std::optional<std::int64_t> plan_from_;  // rows of the plan that is being made
  std::optional<LivePlan> made_;           // not yet in force
  std::int64_t retry_plan_at_ = 0;         // rows; the last try failed
  std::string journal_failure_;  // why the last record could not be written; empty: it could
  std::string planning_failure_;
  std::string snapshot_failure_;
  bool snapshot_asked_ = false;
  std::string broken_;  // why no call can be taken any more
  mutable std::mutex counting_;
  mutable std::map<std::pair<std::string, int>, std::uint64_t> calls_;  // by name and status
  double planning_seconds_ = 0.0;

  // The background thread's: rows on their way to the learner, and those after the plan's.
  std::vector<LearnerRow> taken_;
  std::deque<LearnerRow> carried_;
  std::condition_variable wake_;
  std::condition_variable sync_wake_;
  bool stopping_ = false;
  StopFlag stop_ = false;
  std::thread worker_;
  std::thread syncer_;
};

}  // namespace oas::detail
