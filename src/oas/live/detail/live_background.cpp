#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/live/detail/live_service.hpp"

// What a LiveService does beside the calls.
namespace oas::detail {

namespace {

// Rows are handed over in stretches: the learner need not be woken by each.
constexpr std::size_t kPendingRows = 4096;
constexpr auto kRetry = std::chrono::seconds(1);
// For calls to be taken while a snapshot is.
constexpr auto kBetweenUnits = std::chrono::microseconds(50);
constexpr double kRetryGrowth = 1.1;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Who plans for seconds gives way to who is to answer now: on Linux it has as much of the processor
// as ever, but in long turns, within which whoever asks for shorter ones comes first. No lower
// priority, by which a busy machine would never come to a plan. Where that is not to be had nothing
// is lost but time.
void let_calls_go_first() {
#ifdef __linux__
  struct {  // sched_attr, which the C library does not declare
    std::uint32_t size = 48;
    std::uint32_t policy = SCHED_BATCH;
    std::uint64_t flags = 0;
    std::int32_t nice = getpriority(PRIO_PROCESS, 0);  // as it is
    std::uint32_t priority = 0;
    std::uint64_t runtime = 10'000'000;  // ns, of a turn; the others' take some 3
    std::array<std::uint64_t, 2> unused = {};
  } const attributes;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

JournalRecord plan_record(const LivePlan& plan) {
  JournalRecord record;
  record.kind = JournalKind::plan;
  record.text = plan.to_bytes();
  return record;
}

}  // namespace

void LiveService::plan_within_the_call() {
  const auto begin = std::chrono::steady_clock::now();
  const LivePlan plan = learner_->make_plan(state_.last_plan());
  planning_seconds_ += seconds_since(begin);
  const JournalRecord record = plan_record(plan);
  const StopScope unstoppable(nullptr);  // what is written is applied, whoever stops the call
  commit(std::span(&record, 1));
}

bool LiveService::snapshot_due() const {
  if (snapshot_asked_) return true;
  if (options_.snapshot_every == 0) return false;
  return store_.snapshot_pays(static_cast<std::uint64_t>(options_.snapshot_every));
}

bool LiveService::has_work() const {
  return plan_from_.has_value() || snapshot_due() || pending_.size() >= kPendingRows;
}

// Where the journal cannot take it, the next call tries again.
void LiveService::forget_what_has_changed() {
  const LiveDetector* const detector = state_.detector();
  if (options_.on_change != OnChange::fresh || !state_.learns() || detector == nullptr) return;
  if (!detector->alarmed()) return;
  JournalRecord record;
  record.kind = JournalKind::change;
  try {
    commit(std::span(&record, 1));
  } catch (const IoError&) {
    return;
  }
}

// After every call, under the lock.
void LiveService::after_call() {
  forget_what_has_changed();
  if (options_.synchronous) {
    if (!snapshot_due()) return;
    snapshot_asked_ = false;
    snapshot_failure_ = store_snapshot(store_.journal().place(), saved_state());
    return;
  }
  if (!plan_from_ && state_.plan_due() && state_.rows() >= retry_plan_at_) {
    plan_from_ = state_.rows();
  }
  if (has_work()) wake_.notify_one();
}

void LiveService::background() {
  let_calls_go_first();
  const StopScope scope(&stop_);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, kRetry, [this] { return stopping_ || has_work(); });
    if (stopping_ || !broken_.empty()) continue;
    if (made_) {
      put_in_force(lock);
    } else if (plan_from_) {
      make_plan(lock);
    } else if (snapshot_due()) {
      take_snapshot(lock);
    } else if (learner_ != nullptr) {
      take_rows();
      lock.unlock();
      feed(kAllRows);
      lock.lock();
    }
  }
}

// Under the lock, so no row is touched.
void LiveService::take_rows() { taken_ = std::exchange(pending_, {}); }

// Not under the lock: until the learner has so many rows.
void LiveService::feed(std::int64_t rows) {
  std::move(taken_.begin(), taken_.end(), std::back_inserter(carried_));
  taken_.clear();
  while (!carried_.empty() && learner_->rows() < rows) {
    learner_->add(carried_.front());
    carried_.pop_front();
  }
}

void LiveService::make_plan(std::unique_lock<std::mutex>& lock) {
  take_rows();
  const std::int64_t rows = *plan_from_;
  const std::shared_ptr<const LivePolicy> before = state_.shared_policy();
  lock.unlock();
  const auto begin = std::chrono::steady_clock::now();
  std::optional<LivePlan> plan;
  std::string failure;
  try {
    feed(rows);
    plan = learner_->make_plan(before ? &before->plan() : nullptr);
  } catch (const Interrupted&) {
    failure = "interrupted";
  } catch (const std::exception& error) {
    failure = fmt::format("no plan could be made from {} rows: {}", rows, error.what());
  }
  lock.lock();
  planning_seconds_ += seconds_since(begin);
  planning_failure_ = failure;
  if (plan) {
    made_ = std::move(plan);
    put_in_force(lock);
    return;
  }
  plan_from_.reset();
  retry_plan_at_ = static_cast<std::int64_t>(static_cast<double>(rows) * kRetryGrowth) + 1;
}

// It comes into force where it stands in the journal. On a full disk it waits.
void LiveService::put_in_force(std::unique_lock<std::mutex>& lock) {
  if (state_.forgotten() < made_->rows) {
    const JournalRecord record = plan_record(*made_);
    try {
      commit(std::span(&record, 1));
      planning_failure_.clear();
    } catch (const std::exception& error) {
      planning_failure_ = fmt::format("a plan waits to come into force: {}", error.what());
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      lock.lock();
      return;
    }
  }
  made_.reset();
  plan_from_.reset();
}

std::string LiveService::saved_state() const {
  ByteWriter out;
  state_.save(out);
  return out.take();
}

std::string LiveService::store_snapshot(const JournalPlace& place, std::string_view state) {
  try {
    ByteWriter learned;
    if (learner_ != nullptr) learner_->save(learned);
    store_.write_snapshot(place, state, learned.take());
    return {};
  } catch (const std::exception& error) {
    store_.put_off_snapshot();
    return fmt::format("no snapshot could be taken: {}", error.what());
  }
}

void LiveService::take_snapshot(std::unique_lock<std::mutex>& lock) {
  take_rows();
  snapshot_asked_ = false;
  const JournalPlace place = store_.journal().place();
  state_.begin_save();
  while (!state_.save_some_units()) {
    lock.unlock();
    std::this_thread::sleep_for(kBetweenUnits);
    lock.lock();
  }
  const std::unique_ptr<const LiveSnapshot> saved = state_.take_saved();
  lock.unlock();
  if (learner_ != nullptr) feed(kAllRows);
  ByteWriter state;
  state.put_text(saved->bytes());
  std::string failure = store_snapshot(place, state.take());
  lock.lock();
  snapshot_failure_ = std::move(failure);
}

void LiveService::sync_now_and_then() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    sync_wake_.wait_for(lock, std::chrono::duration<double>(options_.sync_seconds),
                        [this] { return stopping_; });
    lock.unlock();
    try {
      store_.journal().sync();
    } catch (const IoError&) {
      // The writer is broken: the next call is told so.
    }
    lock.lock();
  }
}

}  // namespace oas::detail
