#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oas {

/// A program that runs beside this one and answers every line with a line. It is started in a
/// shell, in a process group of its own, and ends with this value: its input is closed, and whoever
/// of the group is still there a second later is killed. Not for several threads at once.
class ChildProcess {
 public:
  /// Longer lines are no answers.
  static constexpr std::size_t kMostBytes = 1 << 20;

  /// `command`: for /bin/sh -c. Throws IoError where no process can be had.
  explicit ChildProcess(const std::string& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Sends `line`, which holds no newline, and waits for the line that answers it. Throws IoError
  /// that says what happened instead: it ended (with which code, and the last line of its standard
  /// error), said nothing for `seconds`, said too much, or spoke unasked; it is then killed, and
  /// whoever asks again hears the same. What the program wrote is in messages on one line, without
  /// control characters. Throws Interrupted where work is to stop. `watch` is called at least ten
  /// times a second while it waits; what it throws ends the program too.
  [[nodiscard]] std::string ask(std::string_view line, double seconds,
                                const std::function<void()>& watch = {});

 private:
  struct Exchange;
  [[noreturn]] void fail(std::string what);
  [[noreturn]] void fail_ended();
  void look_up(const std::function<void()>& watch);
  void send_some(Exchange& exchange);
  void receive_some();
  void receive_errors();
  bool wait_for_end(double seconds) const;
  void end(double grace);

  pid_t pid_ = 0;
  int talk_ = -1;
  int errors_ = -1;
  bool closed_ = false;  // it has closed its output
  std::string received_;
  std::string last_errors_;  // the end of what it wrote to standard error
  std::string failure_;
};

/// While it lives, whatever ChildProcesses started stays below this process, even programs that
/// have left their group and lost their parent (daemons, setsid); those that are still there at its
/// end are killed. For programs, not for a library within one: it takes every child of the process
/// that was not there before. Where the system is not Linux, or does not tell its processes, it
/// does nothing.
class StrayKeeper {
 public:
  StrayKeeper();
  ~StrayKeeper();
  StrayKeeper(const StrayKeeper&) = delete;
  StrayKeeper& operator=(const StrayKeeper&) = delete;

 private:
  std::optional<std::vector<pid_t>> before_;  // none: not known
  bool kept_before_ = false;                  // it was so already
};

}  // namespace oas
