#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oas {

struct HttpOptions {
  /// An IP address and a port, "127.0.0.1:8080" or "[::1]:8080"; port 0: any that is free.
  std::string address = "127.0.0.1:0";
  /// Names of this server in the field Host, beside IP addresses and localhost: a browser that was
  /// led here by the DNS of a hostile page says that page's name.
  std::vector<std::string> hosts = {};
  /// Any of them opens all paths. None: everybody may, which only a loopback address allows.
  std::vector<std::string> tokens = {};
  /// Paths that need no token.
  std::vector<std::string> open_paths = {};

  int connections = 1024;
  std::int64_t body_bytes = 256 * 1024;
  double rate = 20'000.0;
  double request_seconds = 10.0;
  double idle_seconds = 75.0;
  int threads = 2;

  template <class Fields>
  void visit(Fields& fields) {
    fields("http_connections", connections, {1, 65'536}, "connections at a time; more get a 503");
    fields("http_body", body_bytes, {1024, std::int64_t{1} << 30},
           "bytes of a request's body; more get a 413");
    fields("http_rate", rate, {1e-3, 1e9, true},
           "requests a second of one client (a token, else an address) over a second or more; more "
           "get a 429; 0: any number");
    fields("http_timeout", request_seconds, {0.01, 86'400.0},
           "seconds for a client to send a request, and to take its reply");
    fields("http_idle", idle_seconds, {0.01, 86'400.0},
           "seconds that a connection without a request stays open");
    fields("http_threads", threads, {1, 256}, "threads that answer");
  }

  /// Throws InvalidArgument that names the field and the value; also where the address is not
  /// loopback and there is no token.
  void validate() const;
};

struct SocketAddress {
  std::string ip;  ///< without brackets
  std::uint16_t port = 0;
};

/// Throws InvalidArgument unless that is an IP address and a port, with brackets around one of
/// IPv6.
[[nodiscard]] SocketAddress parse_socket_address(std::string_view text);
/// 127.0.0.0/8, also written as an IPv6 address, and IPv6's own: nobody outside of this machine
/// gets there.
[[nodiscard]] bool is_loopback(const std::string& ip);
[[nodiscard]] bool is_ip_address(const std::string& text);

/// One token a line; empty lines and those that start with '#' say nothing. Throws InvalidArgument
/// that names the line, never the token, where one has fewer than 16 characters or others than
/// letters, digits and -._~+/=, and when there is none.
[[nodiscard]] std::vector<std::string> parse_tokens(std::string_view text, const std::string& file);

}  // namespace oas
