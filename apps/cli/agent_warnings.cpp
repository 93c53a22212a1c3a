#include "agent_warnings.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace oas::cli {

namespace {

constexpr auto kBetweenLooks = std::chrono::seconds(1);

}  // namespace

WarningLog::WarningLog(const LiveAgent& agent, const Common& common)
    : agent_(agent), common_(common) {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kBetweenLooks, [this] { return ends_; })) look();
  });
}

WarningLog::~WarningLog() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  thread_.join();
  look();
}

void WarningLog::look() {
  std::map<std::string, std::string> now;
  for (LiveWarning& each : agent_.warnings()) now[each.about] = std::move(each.text);
  for (const auto& [about, text] : now) {
    if (!standing_.contains(about)) warn(common_, text);
  }
  for (const auto& [about, text] : standing_) {
    if (!now.contains(about)) warn(common_, fmt::format("no longer so: {}", text));
  }
  standing_ = std::move(now);
}

}  // namespace oas::cli
