#include "oas/core/child_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/markup.hpp"

namespace oas {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGrace = 1.0;             // seconds
constexpr std::size_t kKeptErrors = 4096;  // bytes
constexpr std::size_t kMostWords = 1000;   // of them in a message

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The program's ends of a socket and of a pipe become its standard streams. All ends are closed in
// programs that others start, so that they notice each other's end.
pid_t spawn(const std::string& command, int talk, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, talk, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, talk, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  sigset_t none;
  sigset_t defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::array<std::string, 3> words = {"sh", "-c", command};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

std::string last_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

}  // namespace

struct ChildProcess::Exchange {
  std::string line;
  std::size_t sent = 0;
  [[nodiscard]] bool all_sent() const { return sent == line.size(); }
};

ChildProcess::ChildProcess(const std::string& command) {
  std::array<int, 2> talk{-1, -1};
  std::array<int, 2> errors{-1, -1};
  const bool open = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk.data()) == 0 &&
                    pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) == 0;
  if (open) pid_ = spawn(command, talk[1], errors[1]);
  const int error = errno;
  for (const int end : {talk[1], errors[1]}) {
    if (end >= 0) close(end);
  }
  talk_ = talk[0];
  errors_ = errors[0];
  if (open && pid_ > 0) return;
  for (const int end : {talk_, errors_}) {
    if (end >= 0) close(end);
  }
  throw IoError(fmt::format("cannot start '{}': {}", command, std::strerror(error)));
}

ChildProcess::~ChildProcess() { end(kGrace); }

std::string ChildProcess::ask(std::string_view line, double seconds,
                              const std::function<void()>& watch) {
  if (!failure_.empty()) throw IoError(failure_);
  OAS_ASSERT(line.find('\n') == std::string_view::npos);
  if (!received_.empty()) fail(fmt::format("spoke unasked: '{}'", escape_line(received_, 80)));
  Exchange exchange{std::string(line) + "\n"};
  const Clock::time_point deadline = after(seconds);
  while (true) {
    const std::size_t newline = received_.find('\n');
    if (newline != std::string::npos) {
      std::string answer = received_.substr(0, newline);
      received_.erase(0, newline + 1);
      return answer;
    }
    if (closed_) fail_ended();
    if (received_.size() > kMostBytes) {
      fail(fmt::format("answered with more than {} bytes in one line", kMostBytes));
    }
    look_up(watch);
    if (Clock::now() >= deadline) {
      fail(
          fmt::format("gave no answer within {} s; an answer is one line, and output that is kept "
                      "back has to be flushed",
                      seconds));
    }
    constexpr int kLookAround = 100;  // ms, for interruptions and the deadline
    const short wanted = exchange.all_sent() ? POLLIN : POLLIN | POLLOUT;
    std::array<pollfd, 2> ends = {pollfd{talk_, wanted, 0}, pollfd{errors_, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    poll(ends.data(), ends.size(),
         static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kLookAround)));
    if (ends[1].revents != 0) receive_errors();
    if ((ends[0].revents & POLLOUT) != 0) send_some(exchange);
    if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive_some();
  }
}

// Nobody is going to hear the answer of a program that is no longer waited for.
void ChildProcess::look_up(const std::function<void()>& watch) {
  try {
    check_interrupted();
    if (watch) watch();
  } catch (...) {
    failure_ = "is no longer waited for";
    end(0.0);
    throw;
  }
}

void ChildProcess::send_some(Exchange& exchange) {
  const ssize_t count = send(talk_, exchange.line.data() + exchange.sent,
                             exchange.line.size() - exchange.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) exchange.sent += static_cast<std::size_t>(count);
  if (count < 0 && errno != EAGAIN && errno != EINTR) exchange.sent = exchange.line.size();
}

void ChildProcess::receive_some() {
  std::array<char, 65536> buffer;
  const ssize_t count = recv(talk_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) received_.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) closed_ = true;
}

void ChildProcess::receive_errors() {
  std::array<char, 4096> buffer;
  while (errors_ >= 0) {
    const ssize_t count = read(errors_, buffer.data(), buffer.size());
    if (count > 0) {
      last_errors_.append(buffer.data(), static_cast<std::size_t>(count));
      if (last_errors_.size() > kKeptErrors) {
        last_errors_.erase(0, last_errors_.size() - kKeptErrors);
      }
      continue;
    }
    if (count == 0) {  // no longer of interest to poll()
      close(errors_);
      errors_ = -1;
    }
    return;
  }
}

void ChildProcess::fail(std::string what) {
  receive_errors();
  const std::string words = last_line(last_errors_);
  failure_ = std::move(what);
  if (!words.empty()) {
    failure_ += fmt::format(" (its standard error ends with '{}')", escape_line(words, kMostWords));
  }
  end(0.0);
  throw IoError(failure_);
}

// Who closes the output is about to end: how, is worth a moment.
void ChildProcess::fail_ended() {
  siginfo_t how{};
  const bool ended = wait_for_end(kGrace) &&
                     waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (!ended) fail("closed its output before it answered");
  if (how.si_code == CLD_EXITED) {
    fail(fmt::format("ended with exit code {} before it answered", how.si_status));
  }
  fail(fmt::format("was ended by signal {} ({}) before it answered", how.si_status,
                   strsignal(how.si_status)));
}

// It stays a zombie, so that its number is nobody else's.
bool ChildProcess::wait_for_end(double seconds) const {
  const Clock::time_point deadline = after(seconds);
  while (true) {
    siginfo_t how{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return true;
    }
    if (how.si_pid == pid_) return true;
    if (Clock::now() >= deadline) return false;
    poll(nullptr, 0, 2);
  }
}

void ChildProcess::end(double grace) {
  if (pid_ <= 0) return;
  close(talk_);
  if (grace > 0.0) wait_for_end(grace);
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  if (errors_ >= 0) close(errors_);
  errors_ = -1;
}

#ifdef __linux__

namespace {

constexpr std::size_t kStatBytes = 1024;  // more than /proc/PID/stat has up to the parent

// 0: there is none, or it is not told. Takes no memory.
pid_t parent_of(pid_t pid) {
  std::array<char, 64> path{};
  *fmt::format_to_n(path.data(), path.size() - 1, "/proc/{}/stat", pid).out = '\0';
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, kStatBytes> bytes{};
  const ssize_t count = read(file, bytes.data(), bytes.size());
  close(file);
  const std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  // "PID (name) S PARENT …", where the name may hold anything.
  const std::size_t name = text.rfind(") ");
  constexpr std::size_t kToParent = 4;  // ") S "
  if (name == std::string_view::npos || name + kToParent >= text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + name + kToParent, text.data() + text.size(), parent);
  return parent;
}

// Of this process, ended ones included; none: the system does not tell.
std::optional<std::vector<pid_t>> children() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return std::nullopt;
  std::vector<pid_t> found;
  while (const dirent* const entry = readdir(folder.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid > 0 && parent_of(pid) == getpid()) found.push_back(pid);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

StrayKeeper::StrayKeeper() : before_(children()) {
  int kept = 0;
  kept_before_ = prctl(PR_GET_CHILD_SUBREAPER, &kept) == 0 && kept != 0;
  if (before_) prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// Children of who is killed become this one's, and are killed next.
StrayKeeper::~StrayKeeper() {
  if (!before_) return;
  try {
    for (bool any = true; any;) {
      any = false;
      for (const pid_t pid : children().value_or(*before_)) {
        if (std::binary_search(before_->begin(), before_->end(), pid)) continue;
        kill(pid, SIGKILL);
        any = waitpid(pid, nullptr, 0) == pid || any;
      }
    }
  } catch (const std::bad_alloc&) {
    // There is not even memory to look for them.
  }
  if (!kept_before_) prctl(PR_SET_CHILD_SUBREAPER, 0);
}

#else

StrayKeeper::StrayKeeper() = default;
StrayKeeper::~StrayKeeper() = default;

#endif

}  // namespace oas
