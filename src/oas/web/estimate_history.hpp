#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "oas/server/http_message.hpp"

namespace oas {

/// What leads to an agent, whichever it is; both may be called from several threads.
struct AgentCalls {
  /// A call by name with its JSON; the body of the reply is one line without its end.
  std::function<HttpReply(std::string_view call, std::string_view body)> call;
  std::function<std::string()> metrics;
};

/// How the estimate of a live agent came about: T, its errors and the gain at every plan since it
/// is watched. Where there are many plans, every second point is dropped, again and again, so that
/// `max_bytes` hold them.
class EstimateHistory {
 public:
  explicit EstimateHistory(AgentCalls calls, std::size_t max_bytes = std::size_t{16} << 20);
  ~EstimateHistory();
  EstimateHistory(const EstimateHistory&) = delete;
  EstimateHistory& operator=(const EstimateHistory&) = delete;

  /// Looks for a new plan every second from now on, in a thread of its own.
  void watch();
  /// Looks now.
  void look();
  /// {"action":a,"from":s,"to":s'} by index:
  /// {"ok":true,"rows":[…],"value":[…],"standard_error":[…], "gain":[…],"optimistic_gain":[…]},
  /// null where unknown; 400 on anything else.
  [[nodiscard]] HttpReply answer(std::string_view body) const;

 private:
  struct Point {
    std::int64_t plan = 0;
    std::int64_t rows = 0;
    double gain = 0.0;
    double optimistic_gain = 0.0;
    std::vector<double> values;  // [a][s][s'], then their errors
  };
  void add(Point point);

  AgentCalls calls_;
  std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::int64_t plans_ = 0;  // that were looked at
  std::size_t num_actions_ = 0;
  std::size_t num_states_ = 0;
  std::deque<Point> points_;
  std::thread thread_;
};

}  // namespace oas
