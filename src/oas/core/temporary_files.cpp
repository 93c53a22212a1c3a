#include "oas/core/temporary_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

namespace oas {

namespace {

enum class Use { free, taken, noted };

// Plain memory and lock-free flags: all that a signal handler may look at.
struct Slot {
  std::atomic<Use> use = Use::free;
  std::array<char, PATH_MAX> path = {};
};
static_assert(std::atomic<Use>::is_always_lock_free);

constexpr int kSlots = 64;
std::array<Slot, kSlots> slots;

void remove_all() {
  for (const Slot& slot : slots) {
    if (slot.use == Use::noted) unlink(slot.path.data());
  }
}

extern "C" void remove_and_end(int signal) {
  remove_all();
  raise(signal);  // comes when this returns; SA_RESETHAND has put the default action back
}

const char* last_message = nullptr;
int last_code = 0;
std::terminate_handler usual_end = nullptr;

[[noreturn]] void end_program() {
  try {
    if (const std::exception_ptr what = std::current_exception()) std::rethrow_exception(what);
  } catch (const std::bad_alloc&) {
    remove_all();
    std::fputs(last_message, stderr);  // takes no memory: standard error has no buffer
    _exit(last_code);
  } catch (...) {
    usual_end();
  }
  std::abort();
}

}  // namespace

TemporaryName::TemporaryName(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (int i = 0; i < kSlots && slot_ < 0; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    Use expected = Use::free;
    if (!slot.use.compare_exchange_strong(expected, Use::taken)) continue;
    slot.path[path.copy(slot.path.data(), path.size())] = '\0';
    slot.use = Use::noted;
    slot_ = i;
  }
}

TemporaryName::~TemporaryName() {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].use = Use::free;
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept
    : slot_(std::exchange(other.slot_, -1)) {}

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

void remove_temporary_files_on_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF,
                           SIGXCPU, SIGUSR1, SIGUSR2}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = remove_and_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

void end_orderly_without_memory(const char* message, int code) {
  last_message = message;
  last_code = code;
  usual_end = std::set_terminate(end_program);
}

}  // namespace oas
