#include "oas/core/parallel.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"

namespace oas {

namespace {

using Task = std::function<void(std::size_t)>;

// Those that this process may use, which can be fewer than the machine has.
std::size_t num_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
  }
  return std::max(1U, std::thread::hardware_concurrency());
}

// Whether a limit on memory (ulimit -v) leaves as much as the work of so many threads may need.
bool is_room_for_work_of(std::size_t threads) {
  constexpr std::size_t kEach = std::size_t{16} << 20;
  constexpr std::size_t kAlways = std::size_t{64} << 20;
  const std::size_t size = kAlways + threads * kEach;
  void* const room =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, size);
  return true;
}

// Which of several failing tasks is reported must not depend on scheduling: the one of lowest
// index. The others are forgotten at once; thousands of exceptions would find no memory where that
// is what they are about.
class FirstFailure {
 public:
  /// The exception that is being handled.
  void note(std::size_t index) {
    const std::lock_guard lock(mutex_);
    if (what_ && index_ < index) return;
    index_ = index;
    what_ = std::current_exception();
  }
  void rethrow() const {
    if (what_) std::rethrow_exception(what_);
  }

 private:
  std::mutex mutex_;
  std::size_t index_ = 0;
  std::exception_ptr what_;
};

// One call of parallel_for: indices are handed out one by one to whoever asks.
class Job {
 public:
  Job(std::size_t count, const Task& task) : count_(count), task_(task) {}
  void work() {
    for (std::size_t i = next_++; i < count_; i = next_++) task_(i);
  }
  [[nodiscard]] bool has_more() const { return next_ < count_; }

  std::size_t wanted = 0;   // helpers that may still come; guarded by the pool, as is the next
  std::size_t at_work = 0;  // helpers

 private:
  std::size_t count_;
  const Task& task_;
  std::atomic<std::size_t> next_{0};
};

// Threads that wait for jobs, started when they are first wanted. Where the system refuses another
// thread (limits on memory or processes), those that there are do the work, if need be the caller
// alone: it always takes part, so that a job within a job cannot wait for ever.
class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void run(Job& job, std::size_t helpers) {
    {
      const std::lock_guard lock(mutex_);
      job.wanted = helpers;
      jobs_.push_back(&job);
      if (!is_helper) hire(helpers);
    }
    wake_.notify_all();
    const bool was_helper = std::exchange(is_helper, true);
    job.work();
    is_helper = was_helper;
    std::unique_lock lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    done_.wait(lock, [&] { return job.at_work == 0; });
  }

 private:
  // Within a job no more threads are started: idle ones help, if there are any.
  static thread_local bool is_helper;

  void hire(std::size_t helpers) {
    const std::size_t before = threads_.size();
    const std::size_t idle = before - busy_;
    try {
      for (std::size_t i = idle; i < helpers && threads_.size() < most_; ++i) {
        threads_.emplace_back([this, place = threads_.size()] { help(place); });
      }
      if (threads_.size() > before && !is_room_for_work_of(threads_.size()))
        dismiss_all_but(before);
    } catch (const std::exception&) {  // no memory, or no more threads
      dismiss_all_but(before);
    }
  }

  // Fewer threads, then: the results are the same. All that were just started go again, because
  // what they take is what the work itself will need.
  void dismiss_all_but(std::size_t before) {
    most_ = before;
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);  // otherwise every thread reserves 64 MB
#endif
    mutex_.unlock();
    wake_.notify_all();  // also those for whom no work was left
    for (std::size_t i = most_; i < threads_.size(); ++i) threads_[i].join();
    mutex_.lock();
    threads_.resize(most_);
  }

  [[nodiscard]] Job* open_job() {
    for (Job* job : jobs_) {
      if (job->wanted > 0 && job->has_more()) return job;
    }
    return nullptr;
  }

  void help(std::size_t place) {
    is_helper = true;
    std::unique_lock lock(mutex_);
    while (true) {
      Job* job = nullptr;
      wake_.wait(lock,
                 [&] { return stopping_ || place >= most_ || (job = open_job()) != nullptr; });
      if (stopping_ || place >= most_) return;
      --job->wanted;
      ++job->at_work;
      ++busy_;
      lock.unlock();
      job->work();
      lock.lock();
      --busy_;
      if (--job->at_work == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  std::vector<Job*> jobs_;
  std::size_t busy_ = 0;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();  // threads that the system allows
  bool stopping_ = false;
};

thread_local bool ThreadPool::is_helper = false;

// The pool of this process. A forked process has none of the threads of its parent: it leaves the
// parent's pool alone, whose lock may be held by a thread that is not there, and gets its own.
class ProcessPool {
 public:
  ThreadPool& get() {
    const std::lock_guard lock(mutex_);
    if (process_ != getpid()) {
      static_cast<void>(threads_.release());
      threads_ = std::make_unique<ThreadPool>();
      process_ = getpid();
    }
    return *threads_;
  }
  ~ProcessPool() {
    if (process_ != getpid()) static_cast<void>(threads_.release());
  }

 private:
  std::mutex mutex_;  // held for an instant, so that a fork hardly ever meets it
  pid_t process_ = -1;
  std::unique_ptr<ThreadPool> threads_;
};

ThreadPool& pool() {
  static ProcessPool pools;
  return pools.get();
}

}  // namespace

std::size_t num_threads(Parallelism parallelism) {
  OAS_REQUIRE(parallelism.threads >= 0, "number of threads is {}", parallelism.threads);
  return parallelism.threads == 0 ? num_cores() : static_cast<std::size_t>(parallelism.threads);
}

void parallel_for(std::size_t count, Parallelism parallelism, const Task& task) {
  FirstFailure failure;
  const StopFlag* const stop = current_stop_flag();
  const Task guarded = [&](std::size_t i) {
    const StopScope scope(stop);
    try {
      check_interrupted();
      task(i);
    } catch (...) {
      failure.note(i);
    }
  };
  Job job(count, guarded);
  const std::size_t threads = num_threads(parallelism);
  if (count <= 1 || threads == 1) {
    job.work();
  } else {
    pool().run(job, std::min(threads, count) - 1);
  }
  failure.rethrow();
}

}  // namespace oas
