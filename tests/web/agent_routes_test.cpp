#include "oas/web/agent_routes.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "oas/core/version.hpp"
#include "oas/server/sha256.hpp"
#include "oas/web/agent_page.hpp"

namespace oas {
namespace {

using testing::HasSubstr;
using testing::Not;

AgentCalls echo() {
  return {[](std::string_view call, std::string_view body) -> HttpReply {
            return {200, std::string(call) + ":" + std::string(body)};
          },
          [] { return std::string("oas_units 3\n"); }};
}

HttpReply ask(std::string_view method, std::string_view path, std::string_view body = "{}") {
  static const AgentRoutes routes(echo());
  return routes({method, path, body});
}

TEST(AgentRoutes, CallsAreThoseOfTheAgent) {
  for (const char* call : {"act", "observe", "step", "status", "estimate", "plan", "forecast",
                           "snapshot", "end", "health", "history"}) {
    const HttpReply reply = ask("POST", std::string("/v1/") + call);
    EXPECT_EQ(reply.status, 200) << call;
    EXPECT_EQ(reply.body, std::string(call) + ":{}\n");
    EXPECT_EQ(reply.type, "application/json");
  }
  EXPECT_EQ(ask("GET", "/metrics").body, "oas_units 3\n");
  EXPECT_EQ(ask("GET", "/metrics").type, "text/plain; version=0.0.4");
}

TEST(AgentRoutes, OtherMethodsAreNamed) {
  for (const char* method : {"GET", "PUT", "DELETE", "OPTIONS", "post", ""}) {
    const HttpReply reply = ask(method, "/v1/act");
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.fields.front(), (std::pair<std::string, std::string>("Allow", "POST")));
  }
  EXPECT_EQ(ask("GET", "/v1/health", "").body, "health:{}\n");
  EXPECT_EQ(ask("PUT", "/v1/health").fields.front().second, "GET, HEAD, POST");
  for (const char* path : {"/", "/metrics", "/openapi.json"}) {
    const HttpReply reply = ask("POST", path);
    EXPECT_EQ(reply.status, 405) << path;
    EXPECT_EQ(reply.fields.front(), (std::pair<std::string, std::string>("Allow", "GET, HEAD")));
  }
}

TEST(AgentRoutes, NothingElseIsThere) {
  for (const char* path :
       {"", "*", "/v1", "/v1/", "/v1/ACT", "/v1/act/", "/v1//act", "/v2/act", "/v1/../metrics",
        "/../../etc/passwd", "/%2e%2e/etc/passwd", "/index.html", "//", "/v1/act%00",
        "/favicon.ico", "http://localhost/v1/act", "/agent.js"}) {
    for (const char* method : {"GET", "POST"}) EXPECT_EQ(ask(method, path).status, 404) << path;
  }
}

TEST(AgentPage, OnlyItsOwnScriptsAndStylesMayRun) {
  const std::string page = agent_page();
  const std::string policy = content_security_policy(page);
  EXPECT_THAT(policy, HasSubstr("default-src 'none'; "));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  const std::size_t begin = page.rfind("<script>") + 8;
  const std::string script = page.substr(begin, page.rfind("</script>") - begin);
  EXPECT_THAT(policy, HasSubstr("'sha256-" + base64(sha256(script)) + "'"));
  const HttpReply reply = ask("GET", "/");
  EXPECT_EQ(reply.body, page);
  EXPECT_EQ(reply.fields.front().second, policy);
  for (const char* never : {"innerHTML", "eval(", "document.write", " onclick",
                            " style=", "http://1", "https://", "src="}) {
    EXPECT_THAT(page, Not(HasSubstr(never)));
  }
}

// Whoever adds a call to the routes describes it, and whoever describes one adds it.
TEST(OpenApi, DescribesWhatIsThere) {
  const auto document = nlohmann::json::parse(ask("GET", "/openapi.json").body);
  EXPECT_EQ(document["info"]["version"], version());
  std::set<std::string> described;
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const char* method : {"GET", "POST"}) {
      const int status = ask(method, path).status;
      EXPECT_NE(status, 404) << path;
      EXPECT_EQ(status != 405, methods.contains(method == std::string("GET") ? "get" : "post"))
          << method << path;
    }
    described.insert(path);
  }
  EXPECT_EQ(described.size(), 14U);
  EXPECT_TRUE(described.contains("/v1/step"));
}

}  // namespace
}  // namespace oas
