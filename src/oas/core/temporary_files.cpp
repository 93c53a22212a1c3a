#include "oas/core/temporary_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
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

extern "C" void remove_and_end(int signal) {
  for (const Slot& slot : slots) {
    if (slot.use == Use::noted) unlink(slot.path.data());
  }
  raise(signal);  // comes when this returns; SA_RESETHAND has put the default action back
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

}  // namespace oas
