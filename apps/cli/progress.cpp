#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "cli.hpp"
#include "command.hpp"
#include "oas/core/markup.hpp"

namespace oas::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kFirst = std::chrono::seconds(1);
constexpr auto kEvery = std::chrono::milliseconds(250);
constexpr std::int64_t kUncounted = -1;

// Drawing may fail, on a terminal that is gone: the work goes on.
void draw_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// Under mpirun standard error is a pipe to it, and what it gets it shows on its own.
bool launcher_has_terminal() {
  const std::string shown = fmt::format("/proc/{}/fd/2", getppid());
  const int descriptor = open(shown.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool terminal = isatty(descriptor) != 0;
  close(descriptor);
  return terminal;
}

bool on_terminal() {
  return isatty(STDERR_FILENO) != 0 || (leads_ranks() && launcher_has_terminal());
}

}  // namespace

// The line on the terminal and the thread that draws it.
struct Progress::Line {
  Line(const std::string& shown, std::int64_t of)
      : what(escape_control(shown)), total(of), drawer([this] { draw_until_ended(); }) {}

  ~Line() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    wake.notify_one();
    drawer.join();
    if (drawn) draw_text("\r\033[K");
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void draw_until_ended() {
    std::unique_lock lock(mutex);
    auto next = started + kFirst;
    while (!wake.wait_until(lock, next, [this] { return ended; })) {
      try {
        draw();
      } catch (const std::bad_alloc&) {  // the work may need what there is
      }
      next = Clock::now() + kEvery;
    }
  }

  void draw() {
    drawn = true;
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    const std::string rate = big_number(std::round(static_cast<double>(done) / seconds));
    const std::string beside = note.empty() ? "" : "; " + note;
    if (total == kUncounted) {
      draw_text(fmt::format("\r\033[K{}, {:.0f} s{}", what, seconds, beside));
    } else if (total <= 0) {
      draw_text(fmt::format("\r\033[K{} {} ({}/s){}", what, big_number(static_cast<double>(done)),
                            rate, beside));
    } else {
      constexpr int kWidth = 30;
      const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
      const int filled = static_cast<int>(share * kWidth);
      const std::string left =
          done > 0 ? fmt::format(", {:.0f} s left", seconds * (1.0 - share) / share) : "";
      draw_text(fmt::format("\r\033[K{} [{:=<{}}{: <{}}] {:3.0f} %, {}/s{}{}", what, "", filled, "",
                            kWidth - filled, 100.0 * share, rate, left, beside));
    }
  }

  std::string what;
  std::string note;
  std::int64_t total;
  std::int64_t done = 0;
  bool drawn = false;
  bool ended = false;
  Clock::time_point started = Clock::now();
  std::mutex mutex;
  std::condition_variable wake;
  std::thread drawer;  // last: it uses all the others
};

Progress::Progress(const Common& common, std::string what, std::int64_t total) {
  if (common.quiet || only_helps() || captured_output() != nullptr || !on_terminal()) return;
  try {
    line_ = std::make_unique<Line>(std::move(what), total);
  } catch (const std::system_error&) {  // no thread to draw it: the work goes on without
  }
}

Progress::Progress(const Common& common, std::string what)
    : Progress(common, std::move(what), kUncounted) {}

Progress::~Progress() = default;

void Progress::add(std::int64_t done) {
  if (!line_) return;
  const std::lock_guard lock(line_->mutex);
  line_->done += done;
}

void Progress::note(std::string text) {
  if (!line_) return;
  const std::lock_guard lock(line_->mutex);
  line_->note = std::move(text);
}

}  // namespace oas::cli
