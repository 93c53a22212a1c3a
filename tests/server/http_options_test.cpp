#include "oas/server/http_options.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"

namespace oas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Work>
std::string message(Work work) {
  try {
    work();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(SocketAddress, IsAnIpAddressAndAPort) {
  const SocketAddress four = parse_socket_address("127.0.0.1:8080");
  EXPECT_EQ(four.ip, "127.0.0.1");
  EXPECT_EQ(four.port, 8080);
  const SocketAddress six = parse_socket_address("[::1]:0");
  EXPECT_EQ(six.ip, "::1");
  EXPECT_EQ(six.port, 0);
}

TEST(SocketAddress, AnythingElseIsRefusedWithTheText) {
  for (const char* text : {"", ":", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1: 80", "127.0.0.1:80x", "localhost:80",
                           "::1:80", "[127.0.0.1]:80", "[::1]", "[]:80", "0:80", "256.0.0.1:80"}) {
    EXPECT_THAT(message([&] { static_cast<void>(parse_socket_address(text)); }),
                HasSubstr(std::string("'") + text + "'"));
  }
}

TEST(SocketAddress, LoopbackIsWhatOnlyThisMachineReaches) {
  for (const char* ip : {"127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_loopback(ip)) << ip;
  }
  for (const char* ip : {"0.0.0.0", "::", "128.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "::2", ""}) {
    EXPECT_FALSE(is_loopback(ip)) << ip;
  }
}

TEST(HttpOptions, OtherAddressesThanLoopbackNeedAToken) {
  HttpOptions options;
  options.address = "0.0.0.0:8080";
  EXPECT_THAT(message([&] { options.validate(); }),
              testing::AllOf(HasSubstr("0.0.0.0:8080"), HasSubstr("token")));
  options.tokens = {"0123456789abcdef"};
  options.validate();
  options.tokens.clear();
  options.address = "[::1]:8080";
  options.validate();
}

TEST(HttpOptions, RangesAreChecked) {
  HttpOptions options;
  options.request_seconds = 0.0;
  EXPECT_THAT(message([&] { options.validate(); }), HasSubstr("http_timeout"));
  options = {};
  options.hosts = {"https://pumps.example"};
  EXPECT_THAT(message([&] { options.validate(); }), HasSubstr("https://pumps.example"));
}

TEST(Tokens, OneALine) {
  EXPECT_THAT(parse_tokens("# of the plant\n0123456789abcdef\r\n\nABCDEFGHIJ-._~+/=\n", "t"),
              ElementsAre("0123456789abcdef", "ABCDEFGHIJ-._~+/="));
}

TEST(Tokens, WhatIsWrongIsNamedByLineAndNotShown) {
  EXPECT_THAT(
      message([] { static_cast<void>(parse_tokens("\nsecret\n", "t")); }),
      testing::AllOf(HasSubstr("t:2: "), HasSubstr("6"), testing::Not(HasSubstr("secret"))));
  EXPECT_THAT(message([] { static_cast<void>(parse_tokens("0123456789 abcdef", "t")); }),
              HasSubstr("t:1:11: "));
  EXPECT_THAT(message([] { static_cast<void>(parse_tokens("# none\n", "t")); }),
              HasSubstr("t: has no token"));
  const std::string zero("0123456789abcde\0f", 17);
  EXPECT_THAT(message([&] { static_cast<void>(parse_tokens(zero, "t")); }), HasSubstr("t:1:16: "));
}

}  // namespace
}  // namespace oas
