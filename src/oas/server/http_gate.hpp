#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oas/server/http_message.hpp"
#include "oas/server/http_options.hpp"
#include "oas/server/sha256.hpp"

namespace oas {

/// What the header of a request says that matters to the gate. Fields that are not there are empty.
struct HttpHead {
  std::string_view client = {};  ///< IP address
  std::string_view target = {};
  std::string_view host = {};
  std::string_view origin = {};
  std::string_view authorization = {};
  std::size_t hosts = 0;  ///< how often the field Host is there
  bool before_1_1 = false;
  bool has_transfer_encoding = false;
};

/// Who may ask, and how often: the field Host (against names that lead browsers here), the field
/// Origin (against pages of others that post to us), the token, the rate. For any thread.
class HttpGate {
 public:
  explicit HttpGate(const HttpOptions& options);

  using Clock = std::chrono::steady_clock;
  /// The reply to a request that must not pass; nothing: it may.
  [[nodiscard]] std::optional<HttpReply> refusal(const HttpHead& head, Clock::time_point now);

 private:
  struct Bucket {
    double left = 0.0;
    Clock::time_point when;
  };

  [[nodiscard]] std::optional<HttpReply> wrong_host(const HttpHead& head) const;
  [[nodiscard]] bool knows_host(std::string_view host) const;
  [[nodiscard]] std::optional<std::size_t> token_of(std::string_view authorization) const;
  [[nodiscard]] bool is_open(std::string_view target) const;
  [[nodiscard]] bool may_pass(const std::string& client, Clock::time_point now);
  void forget_quiet_clients(Clock::time_point now);

  std::vector<std::string> hosts_;
  std::vector<Sha256> tokens_;
  std::vector<std::string> open_paths_;
  double rate_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
  Clock::time_point next_look_ = Clock::time_point::min();  // for clients to forget
};

/// The path of a request's target: without '?' and what follows.
[[nodiscard]] std::string_view path_of(std::string_view target);

/// The name in the field Host, without the port, a point at the end and brackets, in small letters.
[[nodiscard]] std::string host_name(std::string_view host);

}  // namespace oas
