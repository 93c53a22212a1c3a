#include "oas/server/http_gate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oas {

namespace {

// Beyond so many clients those whose allowance is whole again are forgotten, and if that frees no
// place, new ones share an allowance.
constexpr std::size_t kMostClients = 16'384;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), small);
  return out;
}

// Takes the same time wherever they differ.
bool same(const Sha256& a, const Sha256& b) {
  unsigned differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned>(a[i] ^ b[i]);
  return differ == 0;
}

// A page says where it comes from in whatever it posts; ours comes from this host.
bool is_own_origin(const HttpHead& head) {
  if (head.origin.empty()) return true;
  const std::size_t scheme = head.origin.find("://");
  return scheme != std::string_view::npos &&
         in_small_letters(head.origin.substr(scheme + 3)) == in_small_letters(head.host);
}

}  // namespace

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::string host_name(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, std::min(host.find(']'), host.size()) - 1);
  } else {
    host = host.substr(0, host.find(':'));
    if (host.ends_with('.')) host.remove_suffix(1);
  }
  return in_small_letters(host);
}

HttpGate::HttpGate(const HttpOptions& options)
    : open_paths_(options.open_paths), rate_(options.rate) {
  for (const std::string& host : options.hosts) hosts_.push_back(in_small_letters(host));
  for (const std::string& token : options.tokens) tokens_.push_back(sha256(token));
}

std::optional<HttpReply> HttpGate::refusal(const HttpHead& head, Clock::time_point now) {
  if (auto reply = wrong_host(head)) return reply;
  if (!is_own_origin(head)) {
    return http_error(403,
                      fmt::format("the request comes from a page of {}; only this server's own "
                                  "page may send requests from a browser",
                                  head.origin));
  }
  if (head.has_transfer_encoding) {
    return http_error(411, "a body must come in one piece, with its Content-Length");
  }
  const std::optional<std::size_t> token = token_of(head.authorization);
  const std::string client = token ? fmt::format("token {}", *token) : std::string(head.client);
  if (!may_pass(client, now)) {
    HttpReply reply =
        http_error(429, fmt::format("more than {} requests a second from one client", rate_));
    reply.fields.emplace_back("Retry-After", "1");
    return reply;
  }
  if (tokens_.empty() || token || is_open(head.target)) return std::nullopt;
  HttpReply reply = http_error(401, head.authorization.empty()
                                        ? "a token is needed: Authorization: Bearer TOKEN"
                                        : "the token in Authorization is not one of this server's");
  reply.fields.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

std::optional<HttpReply> HttpGate::wrong_host(const HttpHead& head) const {
  if (head.hosts == 0 && head.before_1_1) return std::nullopt;
  if (head.hosts != 1) {
    return http_error(
        400, fmt::format("the field Host occurs {} times; it must occur once", head.hosts));
  }
  if (knows_host(head.host)) return std::nullopt;
  return http_error(
      403, fmt::format("Host is '{}', which is not a name of this server; --http-host says which "
                       "names it has",
                       head.host));
}

bool HttpGate::knows_host(std::string_view host) const {
  const std::string name = host_name(host);
  return name == "localhost" || is_ip_address(name) ||
         std::find(hosts_.begin(), hosts_.end(), name) != hosts_.end();
}

std::optional<std::size_t> HttpGate::token_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (in_small_letters(authorization.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  const Sha256 given = sha256(authorization.substr(kScheme.size()));
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (same(tokens_[i], given)) found = i;
  }
  return found;
}

bool HttpGate::is_open(std::string_view target) const {
  return std::find(open_paths_.begin(), open_paths_.end(), path_of(target)) != open_paths_.end();
}

bool HttpGate::may_pass(const std::string& client, Clock::time_point now) {
  if (rate_ == 0.0) return true;
  const std::lock_guard lock(mutex_);
  const double most = std::max(rate_, 1.0);
  auto place = buckets_.find(client);
  if (place == buckets_.end()) {
    if (buckets_.size() >= kMostClients) forget_quiet_clients(now);
    const std::string key = buckets_.size() < kMostClients ? client : std::string();
    place = buckets_.try_emplace(key, Bucket{most, now}).first;
  }
  Bucket& bucket = place->second;
  const double seconds = std::chrono::duration<double>(now - bucket.when).count();
  bucket.left = std::min(most, bucket.left + seconds * rate_);
  bucket.when = now;
  if (bucket.left < 1.0) return false;
  bucket.left -= 1.0;
  return true;
}

void HttpGate::forget_quiet_clients(Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + std::chrono::seconds(1);  // it takes a while
  const double most = std::max(rate_, 1.0);
  std::erase_if(buckets_, [&](const auto& each) {
    const double seconds = std::chrono::duration<double>(now - each.second.when).count();
    return each.second.left + seconds * rate_ >= most;
  });
}

}  // namespace oas
