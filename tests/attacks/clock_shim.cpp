// The clock of the day jumps by years at every look at it, in any program that is started with this
// library in LD_PRELOAD; clocks that only run on are left alone. clock_attack.py drives it.

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace {

constexpr long kTenYears = 315'360'000;

// There and back, and further each time.
long jump() {
  static std::atomic<long> looks = 0;
  const long n = ++looks;
  return (n % 2 == 0 ? 1 : -1) * (n % 4) * kTenYears;
}

bool tells_the_day(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && tells_the_day(clock)) time->tv_sec += jump();
  return static_cast<int>(result);
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now = {};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t* time) noexcept {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (time != nullptr) *time = now.tv_sec;
  return now.tv_sec;
}
}
