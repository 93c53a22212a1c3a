#include "oas/server/http_gate.hpp"

#include <gmock/gmock.h>

namespace oas {
namespace {

using testing::HasSubstr;
using Clock = HttpGate::Clock;

const std::string kToken = "0123456789abcdef";

HttpHead head() {
  return {.client = "127.0.0.1", .target = "/v1/act", .host = "127.0.0.1:8080", .hosts = 1};
}

int status(HttpGate& gate, const HttpHead& request, double seconds = 0.0) {
  const auto passed = std::chrono::duration<double>(seconds);
  const auto now = Clock::time_point() + std::chrono::duration_cast<Clock::duration>(passed);
  const auto reply = gate.refusal(request, now);
  return reply ? reply->status : 200;
}

TEST(HttpGate, NamesOfOtherServersAreRefused) {
  HttpOptions options;
  options.hosts = {"Pumps.example"};
  HttpGate gate(options);
  HttpHead request = head();
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:8080",
                           "10.1.2.3", "pumps.example", "PUMPS.EXAMPLE:443", "pumps.example."}) {
    request.host = host;
    EXPECT_EQ(status(gate, request), 200) << host;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "",
                           "pumps.example.evil.example", "[", "[]", ":", "xpumps.example"}) {
    request.host = host;
    EXPECT_EQ(status(gate, request), 403) << host;
  }
}

TEST(HttpGate, TheHostIsThereOnce) {
  HttpGate gate({});
  HttpHead request = head();
  request.hosts = 2;
  EXPECT_EQ(status(gate, request), 400);
  request.hosts = 0;
  request.host = "";
  EXPECT_EQ(status(gate, request), 400);
  request.before_1_1 = true;  // HTTP/1.0 knows no such field
  EXPECT_EQ(status(gate, request), 200);
}

TEST(HttpGate, PagesOfOthersMayNotPost) {
  HttpGate gate({});
  HttpHead request = head();
  for (const char* origin : {"http://127.0.0.1:8080", "https://127.0.0.1:8080"}) {
    request.origin = origin;
    EXPECT_EQ(status(gate, request), 200) << origin;
  }
  for (const char* origin : {"null", "http://evil.example", "http://127.0.0.1:8081", "http://",
                             "http://127.0.0.1:8080.evil.example", "127.0.0.1:8080"}) {
    request.origin = origin;
    EXPECT_EQ(status(gate, request), 403) << origin;
  }
}

TEST(HttpGate, ATokenIsNeededWhereThereAreAny) {
  HttpOptions options;
  options.tokens = {kToken, "another-long-token"};
  options.open_paths = {"/"};
  HttpGate gate(options);
  HttpHead request = head();
  for (const char* wrong :
       {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdeff",
        "Bearer 0123456789abcdeF", "Basic 0123456789abcdef", "0123456789abcdef",
        "Bearer  0123456789abcdef", "Bearer 0123456789abcdef "}) {
    request.authorization = wrong;
    const auto reply = gate.refusal(request, Clock::time_point());
    ASSERT_TRUE(reply) << wrong;
    EXPECT_EQ(reply->status, 401);
    EXPECT_EQ(reply->fields.front().first, "WWW-Authenticate");
    EXPECT_THAT(reply->body, testing::Not(HasSubstr("another-long-token")));
  }
  for (const char* right : {"Bearer 0123456789abcdef", "bearer another-long-token"}) {
    request.authorization = right;
    EXPECT_EQ(status(gate, request), 200) << right;
  }
  request.authorization = "";
  for (const char* target : {"/", "/?x"}) {
    request.target = target;
    EXPECT_EQ(status(gate, request), 200) << target;
  }
  for (const char* target : {"//", "/v1", "", "/#"}) {
    request.target = target;
    EXPECT_EQ(status(gate, request), 401) << target;
  }
}

TEST(HttpGate, BodiesInChunksAreRefused) {
  HttpGate gate({});
  HttpHead request = head();
  request.has_transfer_encoding = true;
  EXPECT_EQ(status(gate, request), 411);
}

TEST(HttpGate, AClientHasItsRate) {
  HttpOptions options;
  options.rate = 4.0;
  HttpGate gate(options);
  HttpHead request = head();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(status(gate, request), 200) << i;
  EXPECT_EQ(status(gate, request), 429);
  request.client = "127.0.0.2";
  EXPECT_EQ(status(gate, request), 200);
  request.client = "127.0.0.1";
  EXPECT_EQ(status(gate, request, 0.2), 429);
  EXPECT_EQ(status(gate, request, 0.3), 200);
  EXPECT_EQ(status(gate, request, 0.3), 429);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(status(gate, request, 1e6), 200) << i;
  EXPECT_EQ(status(gate, request, 1e6), 429);  // what is not used is not saved for long
}

TEST(HttpGate, WrongTokensCountForTheAddressAndRightOnesForThemselves) {
  HttpOptions options;
  options.rate = 2.0;
  options.tokens = {kToken};
  HttpGate gate(options);
  HttpHead request = head();
  EXPECT_EQ(status(gate, request), 401);
  EXPECT_EQ(status(gate, request), 401);
  EXPECT_EQ(status(gate, request), 429);
  request.authorization = "Bearer 0123456789abcdef";
  EXPECT_EQ(status(gate, request), 200);
  request.client = "10.0.0.1";
  EXPECT_EQ(status(gate, request), 200);
  EXPECT_EQ(status(gate, request), 429);
}

TEST(HttpGate, ManyClientsTakeNoMoreThanTheirPlaces) {
  HttpOptions options;
  options.rate = 1.0;
  HttpGate gate(options);
  HttpHead request = head();
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string client = std::to_string(i);
    request.client = client;
    refused += status(gate, request) == 429;
  }
  EXPECT_EQ(refused, 20'000 - 16'384 - 1);  // those beyond the table share one allowance
  request.client = "new";
  EXPECT_EQ(status(gate, request, 10.0), 200);
}

TEST(HttpGate, NoRateIsNoLimit) {
  HttpOptions options;
  options.rate = 0.0;
  HttpGate gate(options);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(status(gate, head()), 200);
}

}  // namespace
}  // namespace oas
