#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace oas {

/// Upper ends, in seconds, of the ranges in which the time of replies is counted.
inline constexpr std::array<double, 10> kHttpSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                                        0.005,  0.01,    0.05,   0.25,  1.0};

struct HttpCounts {
  std::map<int, std::uint64_t> replies;  ///< by status
  /// Replies of the handler that took at most kHttpSeconds[i] but longer than the one before.
  std::array<std::uint64_t, kHttpSeconds.size() + 1> within = {};
  double seconds = 0.0;  ///< of all of them
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;  ///< connections beyond the limit
  std::uint64_t timed_out = 0;    ///< requests that were not sent, or replies not taken, in time
  std::int64_t open = 0;          ///< connections now
};

/// What a server has done so far. For any thread.
class HttpTally {
 public:
  using Duration = std::chrono::duration<double>;

  void reply(int status);
  void handled(Duration duration);
  void opened();
  void closed();
  void turned_away();
  void timed_out();
  [[nodiscard]] HttpCounts counts() const;

 private:
  mutable std::mutex mutex_;
  HttpCounts counts_;
};

/// The counts as Prometheus text, all names starting with "oas_http_".
[[nodiscard]] std::string to_prometheus(const HttpCounts& counts);

}  // namespace oas
