#include "oas/web/agent_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "oas/web/agent_page.hpp"

namespace oas {

namespace {

constexpr std::array<std::string_view, 11> kCalls = {"act",      "observe", "step",     "status",
                                                     "estimate", "plan",    "forecast", "snapshot",
                                                     "end",      "health",  "history"};
constexpr std::string_view kHealth = "health";
constexpr std::string_view kPrefix = "/v1/";

bool is_read(std::string_view path) {
  return path == "/" || path == "/metrics" || path == "/openapi.json";
}

}  // namespace

AgentRoutes::AgentRoutes(AgentCalls calls)
    : calls_(std::move(calls)),
      page_(agent_page()),
      policy_(content_security_policy(page_)),
      description_(open_api_description()) {}

HttpReply AgentRoutes::operator()(const HttpRequest& request) const {
  const std::string_view path = request.path;
  const std::string_view name =
      path.starts_with(kPrefix) ? path.substr(kPrefix.size()) : std::string_view();
  const bool is_call = std::find(kCalls.begin(), kCalls.end(), name) != kCalls.end();
  if (is_read(path)) {
    return request.method == "GET" ? read(path) : http_wrong_method(request, "GET, HEAD");
  }
  if (name == kHealth && request.method != "POST") {
    return request.method == "GET" ? call(name, "{}")
                                   : http_wrong_method(request, "GET, HEAD, POST");
  }
  if (is_call) {
    return request.method == "POST" ? call(name, request.body) : http_wrong_method(request, "POST");
  }
  return http_error(404, fmt::format("there is no {}; /openapi.json lists what there is", path));
}

HttpReply AgentRoutes::read(std::string_view path) const {
  if (path == "/metrics") return {200, calls_.metrics(), "text/plain; version=0.0.4"};
  if (path == "/openapi.json") return {200, description_};
  return {200, page_, "text/html; charset=utf-8", {{"Content-Security-Policy", policy_}}};
}

HttpReply AgentRoutes::call(std::string_view name, std::string_view body) const {
  HttpReply reply = calls_.call(name, body);
  reply.body += '\n';
  return reply;
}

}  // namespace oas
