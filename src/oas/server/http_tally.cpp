#include "oas/server/http_tally.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oas {

void HttpTally::reply(int status) {
  const std::lock_guard lock(mutex_);
  ++counts_.replies[status];
}

void HttpTally::handled(Duration duration) {
  const auto range = std::lower_bound(kHttpSeconds.begin(), kHttpSeconds.end(), duration.count());
  const std::lock_guard lock(mutex_);
  ++counts_.within[static_cast<std::size_t>(range - kHttpSeconds.begin())];
  counts_.seconds += duration.count();
}

void HttpTally::opened() {
  const std::lock_guard lock(mutex_);
  ++counts_.accepted;
  ++counts_.open;
}

void HttpTally::closed() {
  const std::lock_guard lock(mutex_);
  --counts_.open;
}

void HttpTally::turned_away() {
  const std::lock_guard lock(mutex_);
  ++counts_.turned_away;
}

void HttpTally::timed_out() {
  const std::lock_guard lock(mutex_);
  ++counts_.timed_out;
}

HttpCounts HttpTally::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string to_prometheus(const HttpCounts& counts) {
  std::string out;
  const auto head = [&](const char* name, const char* type, const char* meaning) {
    out += fmt::format("# HELP oas_http_{0} {2}\n# TYPE oas_http_{0} {1}\n", name, type, meaning);
  };
  const auto plain = [&](const char* name, const char* type, const char* meaning, auto value) {
    head(name, type, meaning);
    out += fmt::format("oas_http_{} {}\n", name, value);
  };
  head("replies_total", "counter", "Replies by status.");
  for (const auto& [status, count] : counts.replies) {
    out += fmt::format("oas_http_replies_total{{status=\"{}\"}} {}\n", status, count);
  }
  head("seconds", "histogram", "Time to answer a request that the server let pass.");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kHttpSeconds.size(); ++i) {
    sum += counts.within[i];
    out += fmt::format("oas_http_seconds_bucket{{le=\"{}\"}} {}\n", kHttpSeconds[i], sum);
  }
  sum += counts.within.back();
  out += fmt::format(
      "oas_http_seconds_bucket{{le=\"+Inf\"}} {0}\noas_http_seconds_sum {1}\n"
      "oas_http_seconds_count {0}\n",
      sum, counts.seconds);
  plain("connections", "gauge", "Connections that are open.", counts.open);
  plain("connections_total", "counter", "Connections accepted.", counts.accepted);
  plain("turned_away_total", "counter", "Connections beyond the limit.", counts.turned_away);
  plain("timeouts_total", "counter", "Requests or replies that took a client too long.",
        counts.timed_out);
  return out;
}

}  // namespace oas
