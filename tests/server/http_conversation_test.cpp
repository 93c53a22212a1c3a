#include "oas/server/http_conversation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace oas {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

HttpReply echo(const HttpRequest& request) {
  if (request.path == "/throw") throw std::runtime_error("no such luck");
  return {200, fmt::format("{} {} [{}]", request.method, request.path, request.body), "text/plain"};
}

HttpOptions small() {
  HttpOptions options;
  options.body_bytes = 1024;
  return options;
}

// A conversation with a handler that says what it was asked.
struct Talk {
  explicit Talk(const HttpOptions& options = small())
      : service(options, echo), conversation(service, "127.0.0.1") {}

  std::vector<std::string> hear(std::string_view bytes) {
    conversation.take(bytes);
    std::vector<std::string> replies;
    for (std::string reply = conversation.next(); !reply.empty(); reply = conversation.next()) {
      replies.push_back(std::move(reply));
    }
    return replies;
  }
  // Of one request, which says everything at once.
  std::string ask(std::string_view bytes) {
    const auto replies = hear(bytes);
    return replies.size() == 1 ? replies.front() : fmt::format("{} replies", replies.size());
  }

  HttpService service;
  HttpConversation conversation;
};

std::string status_of(std::string_view request) {
  Talk talk;
  return talk.ask(request).substr(9, 3);
}

std::string get(std::string_view target) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
}

std::string post(std::string_view target, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", target,
                     body.size(), body);
}

TEST(HttpConversation, AnswersAndGoesOn) {
  Talk talk;
  const std::string reply = talk.ask(get("/a/b?c=d"));
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\nGET /a/b []"));
  for (const char* field : {"Content-Length: 11\r\n", "Content-Type: text/plain\r\n",
                            "Connection: keep-alive\r\n", "X-Content-Type-Options: nosniff\r\n",
                            "X-Frame-Options: DENY\r\n", "Cache-Control: no-store\r\n"}) {
    EXPECT_THAT(reply, HasSubstr(field));
  }
  EXPECT_THAT(reply, testing::ContainsRegex("Date: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} "
                                            "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT\r\n"));
  EXPECT_THAT(talk.ask(post("/p", "body")), EndsWith("\r\n\r\nPOST /p [body]"));
  EXPECT_FALSE(talk.conversation.ended());
  EXPECT_FALSE(talk.conversation.in_request());
}

TEST(HttpConversation, RequestsInOnePieceAreAnsweredInOrder) {
  Talk talk;
  const auto replies = talk.hear(post("/1", "x") + get("/2") + post("/3", "") + get("/4"));
  ASSERT_EQ(replies.size(), 4U);
  EXPECT_THAT(replies, ElementsAre(EndsWith("POST /1 [x]"), EndsWith("GET /2 []"),
                                   EndsWith("POST /3 []"), EndsWith("GET /4 []")));
}

TEST(HttpConversation, AnyCutGivesTheSame) {
  const std::string bytes = post("/1", "some body") + get("/2") + "GET / HTTP/1.1\r\n\r\n";
  Talk whole;
  const auto expected = whole.hear(bytes);
  ASSERT_EQ(expected.size(), 3U);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    Talk talk;
    auto replies = talk.hear(std::string_view(bytes).substr(0, cut));
    for (auto& reply : talk.hear(std::string_view(bytes).substr(cut))) replies.push_back(reply);
    ASSERT_EQ(replies.size(), expected.size()) << cut;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      EXPECT_EQ(replies[i].substr(replies[i].find("\r\n\r\n")),
                expected[i].substr(expected[i].find("\r\n\r\n")));
    }
  }
}

TEST(HttpConversation, HeadKeepsTheBodyBack) {
  Talk talk;
  const std::string reply = talk.ask("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(reply, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\n"));
  EXPECT_THAT(talk.ask("HEAD /a HTTP/1.1\r\nHost: evil\r\n\r\n"), EndsWith("\r\n\r\n"));
}

TEST(HttpConversation, ClosesWhenAskedTo) {
  Talk talk;
  EXPECT_THAT(talk.ask("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
              HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(talk.conversation.ended());
  EXPECT_THAT(talk.hear(get("/")), IsEmpty());
  Talk old;
  EXPECT_THAT(old.ask("GET / HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(old.conversation.ended());
  Talk kept;
  EXPECT_THAT(kept.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_FALSE(kept.conversation.ended());
}

TEST(HttpConversation, TheLastReplySaysSo) {
  Talk talk;
  talk.conversation.finish();
  EXPECT_THAT(talk.ask(get("/")), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(talk.conversation.ended());
}

TEST(HttpConversation, BodiesBeyondTheLimitAreRefusedBeforeTheyCome) {
  Talk talk;
  EXPECT_THAT(talk.ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1025\r\n\r\n"),
              testing::AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("1024 bytes")));
  EXPECT_TRUE(talk.conversation.ended());
  EXPECT_EQ(status_of(post("/", std::string(1024, 'x'))), "200");
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: localhost\r\n"
                      "Content-Length: 99999999999999999999999\r\n\r\n"),
            "400");
}

TEST(HttpConversation, HeadersBeyondTheLimitAreRefused) {
  const std::string start = "GET / HTTP/1.1\r\nHost: localhost\r\nX: ";
  EXPECT_EQ(status_of(start + std::string(10'000, 'x') + "\r\n\r\n"), "200");
  EXPECT_EQ(status_of(start + std::string(20'000, 'x')), "431");
  EXPECT_EQ(status_of("GET /" + std::string(20'000, 'x')), "431");
  std::string many = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 3000; ++i) many += "A: b\r\n";
  EXPECT_EQ(status_of(many), "431");
}

TEST(HttpConversation, WhoWaitsToSendTheBodyIsToldToGoOn) {
  const std::string header =
      "POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  Talk talk;
  EXPECT_THAT(talk.hear(fmt::format(fmt::runtime(header), "localhost")),
              ElementsAre("HTTP/1.1 100 Continue\r\n\r\n"));
  EXPECT_THAT(talk.ask("body"), EndsWith("POST / [body]"));
  Talk refused;
  EXPECT_THAT(refused.ask(fmt::format(fmt::runtime(header), "evil")), StartsWith("HTTP/1.1 403 "));
  EXPECT_TRUE(refused.conversation.ended());  // the body that may follow is no request
}

TEST(HttpConversation, RefusalsWithoutABodyKeepTheConnection) {
  Talk talk;
  EXPECT_THAT(talk.ask("GET / HTTP/1.1\r\nHost: evil\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_FALSE(talk.conversation.ended());
  EXPECT_THAT(talk.ask("POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: 40\r\n\r\n"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_TRUE(talk.conversation.ended());
}

TEST(HttpConversation, NobodyInBetweenCanSeeOtherBorders) {
  const std::string start = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  for (const char* fields :
       {"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: gzip\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n"}) {
    EXPECT_EQ(status_of(start + fields), "411") << fields;
  }
  for (const char* fields :
       {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "Content-Length: -1\r\n\r\n",
        "Content-Length: +1\r\n\r\n", "Content-Length: 0x1\r\n\r\n", "Content-Length : 1\r\n\r\n",
        "Content-Length: \r\n\r\n", "Content-Length: 1 1\r\n\r\n"}) {
    EXPECT_EQ(status_of(start + fields), "400") << fields;
  }
}

TEST(HttpConversation, WhatIsNoRequestEndsTheTalk) {
  for (const char* bytes :
       {"\x16\x03\x01\x02", "hello\r\n\r\n", "GET\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n", "\r\n\r\n\r\n",
        "GET / HTTP/1.1\r\nA: \x01\r\n\r\n", "GET / HTTP/1.1\r\nA: b\nB: c\r\n\r\n"}) {
    Talk talk;
    EXPECT_EQ(talk.ask(bytes).substr(9, 3), "400") << bytes;
    EXPECT_TRUE(talk.conversation.ended());
  }
  for (const char* line :
       {"GET / HTTP/2.0\r\n", "GET / HTTP/1.1 \r\n", "GET / HTTP\r\n", "GET / HTTP/1.1\n"}) {
    EXPECT_EQ(status_of(std::string(line) + "Host: localhost\r\n\r\n"), "505") << line;
  }
}

TEST(HttpConversation, ErrorsAreJsonWhateverWasSent) {
  Talk talk;
  const std::string reply = talk.ask("GET / HTTP/1.1\r\nHost: \xff\"<b>\r\n\r\n");
  const auto body = nlohmann::json::parse(reply.substr(reply.find("\r\n\r\n") + 4));
  EXPECT_EQ(body["ok"], false);
  EXPECT_THAT(body["error"].get<std::string>(), HasSubstr("Host is '\xEF\xBF\xBD\"<b>'"));
}

TEST(HttpConversation, WhatTheHandlerThrowsIsAReply) {
  Talk talk;
  EXPECT_THAT(talk.ask(get("/throw")),
              testing::AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("no such luck")));
  EXPECT_THAT(talk.ask(get("/")), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(talk.service.tally.counts().replies.at(500), 1U);
}

TEST(HttpConversation, TimeoutsEndTheTalk) {
  Talk talk;
  EXPECT_THAT(talk.hear("GET / HT"), IsEmpty());
  EXPECT_TRUE(talk.conversation.in_request());
  EXPECT_THAT(talk.conversation.time_out(), StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(talk.conversation.ended());
  EXPECT_THAT(talk.hear("TP/1.1\r\nHost: localhost\r\n\r\n"), IsEmpty());
}

}  // namespace
}  // namespace oas
