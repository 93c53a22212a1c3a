#include "work.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"

namespace oas::python {

namespace {

std::atomic<int> num_threads{0};

bool in_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// The bar that Python draws; nothing where nobody would see it.
class Bar {
 public:
  explicit Bar(const Shown& shown) : shown_(shown) {}

  void show(std::int64_t done) {
    if (!asked_) {
      asked_ = true;
      bar_ = nb::module_::import_("oas._progress").attr("bar")(shown_.what, shown_.total);
    }
    if (bar_.is_valid() && !bar_.is_none()) bar_.attr("update")(done - drawn_);
    drawn_ = done;
  }
  void close() {
    if (bar_.is_valid() && !bar_.is_none()) bar_.attr("close")();
  }

 private:
  const Shown& shown_;
  nb::object bar_;
  bool asked_ = false;
  std::int64_t drawn_ = 0;
};

// One call: a thread that works and one that watches.
class WatchedWork {
 public:
  WatchedWork(const Shown& shown, const std::function<void(const RowsRead&)>& work)
      : bar_(shown), work_(work) {}

  void run() {
    std::thread worker([this] { do_work(); });
    watch();
    {
      const nb::gil_scoped_release released;
      worker.join();
    }
    in_python([this] { bar_.close(); });
    if (signal_) throw std::move(*signal_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void do_work() {
    const StopScope scope(&stop_);
    try {
      work_([this](std::int64_t rows) { done_ += rows; });
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    wake_.notify_one();
  }

  void watch() {
    constexpr auto kLook = std::chrono::milliseconds(50);
    constexpr int kFirstDrawn = 20;  // looks: after a second
    for (int looks = 1; !wait(kLook); ++looks) {
      if (signal_) continue;
      if (PyErr_CheckSignals() != 0) {
        signal_.emplace();  // takes the exception
        stop_ = true;
      } else if (looks >= kFirstDrawn && looks % 4 == 0) {
        in_python([this] { bar_.show(done_); });
      }
    }
  }

  // What Python raises meanwhile, as when Ctrl-C comes while it draws, must wait for the worker.
  template <class Call>
  void in_python(const Call& call) {
    try {
      call();
    } catch (nb::python_error& raised) {
      stop_ = true;
      if (!signal_) signal_.emplace(std::move(raised));
    }
  }

  bool wait(std::chrono::milliseconds time) {
    const nb::gil_scoped_release released;
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, time, [this] { return ended_; });
  }

  Bar bar_;
  const std::function<void(const RowsRead&)>& work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::atomic<std::int64_t> done_{0};
  StopFlag stop_{false};
  std::exception_ptr failure_;
  std::optional<nb::python_error> signal_;
};

// While it lives, SIGINT also stops work under `stop()`; Python's own handler hears of it, too.
class StoppedBySigint {
 public:
  StoppedBySigint() {
    stop_ = false;
    struct sigaction ours = {};
    ours.sa_handler = on_signal;
    installed_ = sigaction(SIGINT, &ours, &before_) == 0;
    if (installed_ && !is_function(before_)) put_back();
  }
  ~StoppedBySigint() { put_back(); }
  StoppedBySigint(const StoppedBySigint&) = delete;
  StoppedBySigint& operator=(const StoppedBySigint&) = delete;

  [[nodiscard]] static const StopFlag& stop() { return stop_; }

 private:
  void put_back() {
    if (installed_) sigaction(SIGINT, &before_, nullptr);
    installed_ = false;
  }
  static bool is_function(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN;
  }
  static void on_signal(int signal) {
    stop_ = true;
    if (is_function(before_)) before_.sa_handler(signal);
  }

  static inline StopFlag stop_{false};
  static inline struct sigaction before_ = {};
  bool installed_ = false;
};

}  // namespace

void run_short_work(const std::function<void()>& work) {
  thread_local const bool in_first_thread = gettid() == getpid();
  if (!in_first_thread) {
    const nb::gil_scoped_release released;
    work();
    return;
  }
  try {
    const StoppedBySigint watch;
    const StopScope scope(&StoppedBySigint::stop());
    const nb::gil_scoped_release released;
    work();
  } catch (const Interrupted&) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    throw;
  }
}

void run_work(const Shown& shown, const std::function<void(const RowsRead&)>& work) {
  if (in_main_thread()) {
    WatchedWork(shown, work).run();
    return;
  }
  const nb::gil_scoped_release released;
  work([](std::int64_t) {});
}

Parallelism threads() { return {num_threads.load()}; }

void set_threads(int count) {
  OAS_REQUIRE(count >= 0 && count <= 1024, "threads is {}; it must be between 0 and 1024", count);
  num_threads = count;
}

}  // namespace oas::python
