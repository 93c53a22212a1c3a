#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "cli.hpp"
#include "oas/live/live_agent.hpp"

namespace oas::cli {

/// Tells on standard error, as a log keeps it, what an agent warns of when that begins and when it
/// is so no longer. Looks every second in a thread of its own, and a last time when it ends.
class WarningLog {
 public:
  /// Both outlive it.
  WarningLog(const LiveAgent& agent, const Common& common);
  ~WarningLog();
  WarningLog(const WarningLog&) = delete;
  WarningLog& operator=(const WarningLog&) = delete;

 private:
  void look();

  const LiveAgent& agent_;
  const Common& common_;
  std::map<std::string, std::string> standing_;  // text as it was told, by what it is about
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace oas::cli
