#include "oas/server/http_options.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "oas/core/contracts.hpp"
#include "oas/core/settings.hpp"

namespace oas {

namespace {

constexpr std::size_t kLeastToken = 16;
constexpr std::size_t kMostToken = 1024;

bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != '\0' && std::strchr("-._~+/=", c) != nullptr);
}

void check_token(std::string_view token, const std::string& file, long line) {
  if (token.size() < kLeastToken || token.size() > kMostToken) {
    throw ParseError(file, line, 0,
                     fmt::format("a token has {} to {} characters, this one has {}", kLeastToken,
                                 kMostToken, token.size()));
  }
  const auto wrong = std::find_if_not(token.begin(), token.end(), is_token_character);
  if (wrong != token.end()) {
    throw ParseError(file, line, wrong - token.begin() + 1,
                     "a token is made of letters, digits and -._~+/=");
  }
}

}  // namespace

void HttpOptions::validate() const {
  HttpOptions copy = *this;
  SettingFields fields;
  copy.visit(fields);
  fields.check();
  const SocketAddress where = parse_socket_address(address);
  OAS_REQUIRE(!tokens.empty() || is_loopback(where.ip),
              "{}: others than this machine can reach that address, so clients must show a token; "
              "without one only loopback addresses (127.0.0.1, [::1]) are allowed",
              address);
  for (const std::string& host : hosts) {
    OAS_REQUIRE(!host.empty() && host.find_first_of(":/ ") == std::string::npos,
                "'{}': the name of a host has neither scheme nor port", host);
  }
}

SocketAddress parse_socket_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view ip = text.substr(0, colon);
  const bool brackets = ip.starts_with('[') && ip.ends_with(']');
  if (brackets) ip = ip.substr(1, ip.size() - 2);
  SocketAddress address = {std::string(ip)};
  const bool is_ip =
      is_ip_address(address.ip) && brackets == (address.ip.find(':') != std::string::npos);
  OAS_REQUIRE(colon != std::string_view::npos && is_ip,
              "'{}': expected an IP address and a port, as in 127.0.0.1:8080 or "
              "[::1]:8080",
              text);
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  OAS_REQUIRE(error == std::errc() && end == digits.data() + digits.size(),
              "'{}': the port is '{}'; it must be a number between 0 and 65535", text, digits);
  return address;
}

bool is_loopback(const std::string& ip) {
  in_addr four = {};
  if (inet_pton(AF_INET, ip.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six = {};
  if (inet_pton(AF_INET6, ip.c_str(), &six) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&six)) return six.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&six);
}

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

std::vector<std::string> parse_tokens(std::string_view text, const std::string& file) {
  std::vector<std::string> tokens;
  long line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view token = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (token.ends_with('\r')) token.remove_suffix(1);
    if (token.empty() || token.starts_with('#')) continue;
    check_token(token, file, line);
    tokens.emplace_back(token);
  }
  OAS_REQUIRE(!tokens.empty(), "{}: has no token; write one, as of `openssl rand -hex 32`", file);
  return tokens;
}

}  // namespace oas
